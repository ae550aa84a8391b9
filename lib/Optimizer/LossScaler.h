// What a scaled loss means for gradients, and how a dynamic scale grows and shrinks.
#pragma once

#include "dialects/Train/LossScaling.h"
#include "lib/Optimizer/StepBuilder.h"

namespace trainc {

/// The scale of one program's loss, in the entry that updates. Does nothing where the loss is not scaled.
class LossScaler {
public:
  /// Reads a dynamic scale.
  LossScaler(StepBuilder &build, std::optional<train::LossScaling> scaling);

  /// What gradients are multiplied by to be those of the loss itself, a scalar; null for 1.
  mlir::Value inverse() const { return inverse_; }
  /// Builds the next step's scale, which follows from build.finite, and what the host learns of this one's.
  void advance();

private:
  /// `then` in a finite step, else `otherwise`.
  mlir::Value ifFinite(mlir::Value then, mlir::Value otherwise);
  mlir::Value choose(nn::Predicate predicate, mlir::Value x, double y, mlir::Value then,
                     mlir::Value otherwise);
  /// A counter of the scale's, which begins with `initial`.
  mlir::Value readCounter(llvm::StringRef name, double initial);

  StepBuilder &build_;
  std::optional<train::LossScaling> scaling_;
  mlir::Value scale_, inverse_;
};

} // namespace trainc
