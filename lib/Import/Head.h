// The head of a model: from the states of its last layer to logits and a loss.
#pragma once

#include "lib/Import/LayerText.h"

#include <optional>
#include <string_view>

namespace trainc::importer {

/// Purpose of a training.
enum class Task {
  CausalLm,            ///< the next token
  MaskedLm,            ///< tokens that are hidden
  Classification,      ///< the class of a text or an image
  TokenClassification, ///< the class of each token
};

struct Head {
  enum Pooling {
    None,  ///< logits for each position
    First, ///< logits from the first position
    Mean,  ///< logits from the mean over the segment of the first position
    Last,  ///< logits from the last token that is not padding
  };
  enum Loss {
    CrossEntropy,       ///< one class for each target
    BinaryCrossEntropy, ///< each class by itself: labels from 0 to 1
    SquaredError,       ///< numbers
  };
  Pooling pooling = None;
  int64_t padToken = 0;     ///< with Last
  double dropoutBefore = 0; ///< of the pooled states
  std::string dense;        ///< scope of a layer before the last one; empty: none
  std::string activation;   ///< of this layer, as Mlp::activation
  bool hasDenseBias = true;
  std::string norm;   ///< scope of a norm of its results; empty: none
  double dropout = 0; ///< before the last layer
  std::string output; ///< scope of the last layer
  std::string tied;   ///< full name of the parameter that is its weight; empty: a weight of its own
  int64_t outputs = 1;
  bool hasBias = true;
  Loss loss = CrossEntropy;

  /// Number of parameters of a head on `layers`.
  int64_t parameters(const Layers &layers) const;
  /// Type of the column `labels`.
  std::string labelsType() const;
  /// Writes the ops from the last states `input` to the loss.
  void write(LayerText &layers, int64_t width, Text &text, std::string input) const;

private:
  std::string pool(Text &text, int64_t width, const std::string &input) const;
  void writeLoss(Text &text) const;
};

} // namespace trainc::importer
