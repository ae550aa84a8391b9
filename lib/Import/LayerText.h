// The text of a model's layers.
#pragma once

#include "lib/Import/Layers.h"
#include "lib/Import/Text.h"

namespace trainc::importer {

/// Returns `activation`, such as "nn.gelu %x", with `operand` in place of %x.
std::string activationText(const std::string &activation, const std::string &operand);

/// Writes the blocks of a model's layers, and their use, to a text. Also makes ops that the rest of the model
/// needs, such as norms. Ops and values are named by their texts, such as "%h".
class LayerText {
public:
  LayerText(const Layers &layers, Text &text) : layers_(layers), text_(text) {}

  /// Writes the comment at the top of a model's text: sizes of the layers, and then `more`.
  void heading(const std::string &architecture, int64_t parameters, const std::string &more);
  /// Writes the blocks that layers use, in the order of the first layer of each. Kinds of layers that differ
  /// in numbers alone share a block.
  void blocks();
  /// Applies the layers to `input`. The result is `%h`.
  void apply(const std::string &input);
  /// Adds the rows of learned positions to `input`. Returns the name of the sum.
  std::string addPositions(const LearnedPositions &table, const std::string &input);
  /// Writes the dropout of `input` with the probability `p`. Returns the name of the result, or `input` if
  /// `p` is 0.
  std::string dropout(const std::string &scope, const std::string &input, double p);
  /// Writes the product of `value` and `factor`, or with `op` "div" the quotient, unless `factor` is 1. New
  /// names begin with `name`; `value` becomes the name of the result.
  void scale(std::string &value, const std::string &name, double factor, const char *op = "mul");

  // Texts of ops, without the names of their results.
  std::string norm(const std::string &scope, const std::string &input) const;
  std::string linear(const std::string &scope, const std::string &input, int64_t features, bool bias,
                     bool inOut = false) const;
  /// Returns the clause of initial weights; empty if they are the language's default.
  std::string init() const;

private:
  /// Numbers that differ among the kinds of layers that share a block. Each use of the block sets them.
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
