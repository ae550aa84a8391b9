// Architecture of an expanded model: the numbers that configurations such as Hugging Face's config.json
// state.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

#include <optional>
#include <string>

namespace trainc::nn {

/// A property of an architecture. A model has a property if all ops that tell it agree.
enum class Feature {
  heads,
  keyHeads,
  headWidth,
  scoreScale,
  causal,
  layers,
  width,
  vocabulary,
  positions,
  epsilon,
  theta,
  activation,
  tied
};

/// The value that an op gives to a property.
struct Fact {
  Feature feature;
  /// An i64, an f64, a bool or a string.
  mlir::Attribute value;
  /// A clause for messages, as "nn.attention has 4 heads".
  std::string text;
};

/// Returns the facts that `op` of an expanded model tells. Activations have the names of Hugging Face.
llvm::SmallVector<Fact> factsOf(mlir::Operation *op);

/// Returns the facts that the product with the logits as its result tells, if `logits` is one with a
/// parameter.
llvm::SmallVector<Fact> factsOfLogits(mlir::Value logits);

/// Whether `op` computes attention.
bool isAttention(mlir::Operation *op);

/// Warns if `op` is an attention whose queries or keys nn.rope rotates as another number of heads.
void warnOfRotatedHeads(mlir::Operation *op);

/// Returns an attention before `op` that has the same key of dropout, and so drops the same weights as `op`;
/// null if `op` is no attention or no other has its key.
mlir::Operation *earlierUserOfDropoutKey(mlir::Operation *op);

} // namespace trainc::nn
