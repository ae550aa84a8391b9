// Unscaling of gradients, and adaptation of a dynamic loss scale.
#pragma once

#include "dialects/Train/LossScaling.h"
#include "lib/Optimizer/StepBuilder.h"

namespace trainc {

/// Loss scale of a program, in the entry that updates parameters. Does nothing if the loss is not scaled.
class LossScaler {
public:
  /// Reads the scale if it is dynamic. `window` is the number of consecutive finite steps that double it.
  LossScaler(StepBuilder &build, std::optional<train::LossScaling> scaling, double window);

  /// Returns the scalar factor that unscales gradients; null for 1.
  mlir::Value inverse() const { return inverse_; }
  /// Builds the next step's scale, which depends on build.finite, and the scalars that report this step's
  /// scale to the host.
  void advance();

private:
  /// Returns `then` in a finite step, else `otherwise`.
  mlir::Value ifFinite(mlir::Value then, mlir::Value otherwise);
  mlir::Value choose(nn::Predicate predicate, mlir::Value x, double y, mlir::Value then,
                     mlir::Value otherwise);

  StepBuilder &build_;
  std::optional<train::LossScaling> scaling_;
  double window_;
  mlir::Value scale_, inverse_;
};

} // namespace trainc
