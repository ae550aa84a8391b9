// The layers of a model as its text describes them, without a family's names for their parts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainc::importer {

struct Norm {
  enum Kind {
    Rms,          ///< x / rms(x) times the weight
    RmsOffsetOne, ///< x / rms(x) times (1 + weight)
    Layer,        ///< layer norm
  };
  Kind kind = Rms;
  double epsilon = 1e-6;
  bool hasBias = true; ///< of a layer norm

  /// Number of parameters of a norm over `width` numbers.
  int64_t parameters(int64_t width) const { return (kind == Layer && hasBias ? 2 : 1) * width; }
};

/// Rotary positions of the heads.
struct Rope {
  double theta = 10000;
  int64_t rotary = 0;      ///< numbers of each head that are rotated; 0: all
  double linearFactor = 1; ///< divides positions
  std::string scaling;     ///< another scaling as in the text, for example "yarn(factor 4, ...)"; empty: none
  std::optional<int64_t> maxLength = std::nullopt; ///< longest text that is computed as in transformers
};

/// Scopes and forms of the layers around attention.
struct Attention {
  enum Packing {
    Separate, ///< three layers: q, k and v
    Rows,     ///< one layer whose results are q, k and v, one after another
    PerHead,  ///< one layer whose results are, for each head of keys, its heads of queries, its keys and
              ///< values
  };
  enum HeadNorms {
    None,
    EachHead,   ///< one weight of a head's width, for each head
    AllHeads,   ///< one weight over the width of all heads
    OwnWeights, ///< a weight of a head's width for each head, in the scopes `norms.0`, `norms.1` and so on
  };
  int64_t heads = 1, keyHeads = 1, headWidth = 1;
  Packing packing = Separate;
  std::string query, key, value; ///< scopes of the layers; of a packed layer `query` alone
  std::string output;
  bool hasBias = false, hasOutputBias = false;
  HeadNorms headNorms = None;
  std::string queryNorm, keyNorm;
  std::optional<double> scale;   ///< of the scores; default 1 / sqrt(headWidth)
  std::optional<double> softcap; ///< of the scores; default none
  std::optional<double> alibi;   ///< factor of the slopes of positions' biases; default none
  bool isCausal = true;
  bool hasSegments = false; ///< whether a column tells which tokens see each other

  int64_t queryWidth() const { return heads * headWidth; }
  int64_t keyWidth() const { return keyHeads * headWidth; }
};

struct Mlp {
  int64_t width = 1;
  std::string
      activation;   ///< as in the text, for example "nn.gelu %x approximate tanh", with %x for the operand
  std::string gate; ///< scope of the layer that the activation follows, in a gated MLP; else empty
  std::string up, down;
  bool packsGate = false; ///< one layer `up`, whose results are the gate, then the rest
  bool hasBias = false;
};

/// Properties in which the layers of one model differ.
struct LayerKind {
  std::string name; ///< the block's name
  std::optional<Rope> rope;
  std::optional<int64_t> window; ///< keys that a query sees, itself included
  bool hasAttentionNorm = true;  ///< whether the norm before attention, if the model has it, is in this layer
};

/// Positions in a table, added to the embeddings.
struct LearnedPositions {
  std::string scope;
  int64_t count = 0;
  int64_t first = 0; ///< row of position 0
};

/// Scopes of norms before and after attention and the MLP, and of their sums with the residual stream; empty:
/// none.
struct NormScopes {
  std::string attention, attentionOut, attentionSum, mlp, mlpOut, mlpSum;
};

struct Dropout {
  double embedding = 0, residual = 0, attention = 0;
};

/// Layers in a row, which models of all kinds have.
struct Layers {
  int64_t width = 1;
  double initialRange = 0.02; ///< standard deviation of initial weights

  Norm norm;
  Attention attention;
  Mlp mlp;
  NormScopes norms;
  bool isParallel = false;         ///< attention and the MLP both read the layer's input
  bool continuesFromNorms = false; ///< the residual stream is the result of each norm, not its input
  bool inOut = false;              ///< weights of a layer's linear maps are [in, out]
  bool positionsAreColumn = false; ///< whether a column has the position of each token in its text

  std::vector<LayerKind> kinds;
  std::vector<size_t> layers; ///< the kind of each layer
  std::string layerScope;

  double residualScale = 1;
  Dropout dropout;

  bool usesRope() const {
    for (const LayerKind &kind : kinds)
      if (kind.rope)
        return true;
    return false;
  }
  /// Numbers of parameters: of a norm, and of all layers.
  int64_t normParameters() const;
  int64_t layerParameters() const;
};

} // namespace trainc::importer
