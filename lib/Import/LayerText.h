// The text of a model's layers.
#pragma once

#include "lib/Import/Layers.h"
#include "lib/Import/Text.h"

namespace trainc::importer {

/// Returns an activation such as "nn.gelu %x" with `operand` for %x.
std::string activationText(const std::string &activation, const std::string &operand);

/// Writes blocks and their use to a text, and gives the ops that the rest of a model shares with them.
class LayerText {
public:
  LayerText(const Layers &layers, Text &text) : layers_(layers), text_(text) {}

  /// Writes the heading of a model's text: what the layers have, and `more`.
  void heading(const std::string &architecture, int64_t parameters, const std::string &more);
  /// Writes a block for each kind of layer that is used, in the order of their first layers.
  void blocks();
  /// Applies the layers to `input`. The result is `%h`.
  void apply(const std::string &input);
  /// Adds the rows of learned positions to `input`. Returns the sum.
  std::string addPositions(const LearnedPositions &table, const std::string &input);
  /// Drops out `input` with the probability `p`. Returns the result, or `input` if `p` is 0.
  std::string dropout(const std::string &scope, const std::string &input, double p);
  /// Multiplies `value` by `factor` (or divides it: `op`), as `name`, unless it is 1.
  void scale(std::string &value, const std::string &name, double factor, const char *op = "mul");

  // Ops without the names of their results.
  std::string norm(const std::string &scope, const std::string &input) const;
  std::string linear(const std::string &scope, const std::string &input, int64_t features, bool bias,
                     bool inOut = false) const;
  /// The clause of initial weights, which is left out where it is the language's default.
  std::string init() const;

private:
  /// Numbers of a block that the kinds of layers with this block set for themselves.
  struct Constants {
    bool window = false, theta = false, factor = false;
    bool any() const { return window || theta || factor; }
  };

  size_t blockOf(size_t kind) const;
  Constants constantsOf(size_t block) const;
  std::string numbersOf(const Constants &constants, const LayerKind &kind, const LayerKind *other) const;
  std::string useOf(size_t kind) const;
  std::string rope(const Rope &rope) const;
  void block(size_t index);
  std::string attention(const LayerKind &kind, const std::string &input);
  std::string mlp(const std::string &input);
  std::string headNorm(const std::string &name, const std::string &scope, int64_t count);
  std::string heads(const std::string &name, const std::string &scope, const LayerKind &kind, int64_t count);
  std::string residual(const std::string &result, const std::string &input, std::string branch,
                       const std::string &norm, const std::string &sumNorm, const std::string &dropout);

  const Layers &layers_;
  Text &text_;
  Constants constants_; ///< of the block that is being written
};

} // namespace trainc::importer
