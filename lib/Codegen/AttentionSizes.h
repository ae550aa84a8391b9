// Sizes of attention.
#pragma once

#include "dialects/NN/NN.h"

namespace trainc::codegen {

/// Scalar instructions of a target's kernels on one score.
struct ScoreInstructions {
  int64_t softmax; ///< scale, mask, maximum, exponential and sum
  int64_t softcap; ///< hyperbolic tangent and scales
  int64_t alibi;   ///< distance, product with the slope, sum
  int64_t bias;    ///< address, load and sum
  int64_t draw;    ///< of dropout: ten rounds of Philox, which give the words of up to four keys
  int64_t dropout; ///< comparison of the word, factor and product
};

/// Sizes of an attention or its gradient.
struct AttentionSizes {
  explicit AttentionSizes(nn::AttentionOp op);
  explicit AttentionSizes(nn::AttentionGradOp op);

  mlir::Type element; ///< of q, k, v and out
  int64_t batch, queries, keys, heads, keyHeads, depth, valueWidth;
  std::optional<double> softcap; ///< of scaled scores
  std::optional<double> alibi;   ///< factor of the slopes
  std::optional<double> dropout; ///< probability that a weight is dropped
  int64_t biasWidth = 0;         ///< numbers of a head's row of biases by distance; 0 without biases

  /// Number of query heads that share a key head.
  int64_t group() const { return heads / keyHeads; }
  int64_t widest() const { return std::max(depth, valueWidth); }
  /// Returns the scalar instructions on scores, besides products of `flops` in total. Each score takes part
  /// in `byDepth` products over the head size of q and k and `byValue` products over that of v. `keysPerDraw`
  /// keys share a draw of dropout.
  int64_t scoreArithmetic(int64_t flops, int64_t byDepth, int64_t byValue, const ScoreInstructions &of,
                          int64_t keysPerDraw) const {
    const int64_t perScore = of.softmax + (softcap ? of.softcap : 0) + (alibi ? of.alibi : 0) +
                             (biasWidth > 0 ? of.bias : 0) +
                             (dropout ? of.draw / keysPerDraw + of.dropout : 0);
    return flops / (2 * (byDepth * depth + byValue * valueWidth)) * perScore;
  }

  /// Rows of out: one for each sequence, query and head.
  int64_t rows() const { return batch * queries * heads; }

private:
  AttentionSizes(mlir::Value q, mlir::Value k, mlir::Value v, int64_t heads, int64_t keyHeads);
  template <typename Op> void takeForms(Op op);
};

} // namespace trainc::codegen
