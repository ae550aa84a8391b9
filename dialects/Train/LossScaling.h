// How a program scales its loss, lest gradients vanish in f16.
#pragma once

#include "dialects/Train/Precision.h"

namespace trainc::train {

/// The state that holds a dynamic scale.
constexpr llvm::StringLiteral kLossScaleState = "loss_scale";

/// The settings of a program in fp16. Steps that are not finite halve a dynamic scale, and many finite ones
/// in a row double it.
struct LossScaling {
  double fixed = 0;   ///< the scale of all steps; 0: it is dynamic
  double initial = 0; ///< the first step's
  double window = 0;  ///< finite steps in a row that double it
  double hysteresis =
      0; ///< steps in a row that are not finite, the last of which halves it, and those behind
  double minimum = 0;

  bool isDynamic() const { return fixed == 0; }
};

/// Null in other precisions.
inline std::optional<LossScaling> lossScalingOf(ProgramOp program) {
  if (!precisionOf(program).compute.isF16())
    return std::nullopt;
  return LossScaling{double(program.getLossScale()), double(program.getLossScaleInit()),
                     double(program.getLossScaleWindow()), double(program.getLossScaleHysteresis()),
                     double(program.getLossScaleMin())};
}

} // namespace trainc::train
