// Loss scaling of a program, which keeps gradients in f16 from underflow.
#pragma once

#include "dialects/Train/Precision.h"
#include "plan/settings/settings.h"

namespace trainc::train {

/// Name of the state that holds a dynamic scale.
constexpr llvm::StringLiteral kLossScaleState = "loss_scale";

/// Minimum of a dynamic scale.
constexpr double kMinLossScale = 1;

/// Loss-scale settings of an fp16 program. A dynamic scale halves after an overflowing step and doubles after
/// many finite steps.
struct LossScaling {
  double fixed = 0;   ///< scale of all steps; 0 if the scale is dynamic
  double initial = 0; ///< scale of the first step

  bool isDynamic() const { return fixed == 0; }
};

/// Returns the settings of an fp16 program; none for other precisions.
inline std::optional<LossScaling> lossScalingOf(ProgramOp program) {
  if (!precisionOf(program).compute.isF16())
    return std::nullopt;
  return LossScaling{double(kLossScale.of(program)), double(kLossScaleInit.of(program))};
}

} // namespace trainc::train
