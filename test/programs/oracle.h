// Expected results of a program's step, from the reference interpreter.
#pragma once

#include "lib/Reference/Interpreter.h"
#include "test/programs/trial.h"

#include "mlir/IR/BuiltinOps.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace trainc::programs {

/// Numbers, and how far apart two ways to round them may be.
struct Expected {
  std::vector<double> numbers;
  double tolerance = 0;
  /// Rounding decides the results, so nothing can be expected.
  bool isUnstable = false;
};

/// A rank's samples, by column.
using Samples = reference::NamedTensors;

/// A language model's logits for the first sample's tokens.
struct Continuation {
  std::vector<int64_t> tokens;
  std::vector<Expected> logits; ///< at each position
};

/// One training step on the samples of all ranks, and the evaluation of the first rank's.
struct Step {
  reference::NamedTensors parameters;        ///< before the step, numbers of f32
  std::vector<Samples> samples;              ///< of each rank
  std::map<std::string, Expected> gradients; ///< summed over ranks
  Expected loss, evalLoss, evalTargets;
  /// Empty if the model has no logits, or other columns than tokens lead to them.
  Continuation continuation;
  bool mayOverflow = false; ///< some number is larger than all that surely stay finite
};

/// Sensitivity to rounding. A step is run with every op's results perturbed by a relative change, a few times
/// larger than one rounding.
struct Rounding {
  Change change;
  double minTolerance;       ///< relative to a tensor's largest number
  double unstable;           ///< likewise: if changes move a tensor by more, a choice depends on rounding
  double largest = HUGE_VAL; ///< of larger numbers some may become infinite
  double lossScale = 1;      ///< which gradients are multiplied by on their way

  /// Rounding to f32 changes numbers by up to 2^-24.
  static Rounding ofF32() { return {.change = {1e-6}, .minTolerance = 1e-6, .unstable = 1e-2}; }
  /// To bf16 by 2^-8.
  static Rounding ofBf16() { return {.change = {0x1p-7}, .minTolerance = 0x1p-7, .unstable = 0.5}; }
  /// To f16 by 2^-11; of numbers below 2^-14 by 2^-25. Its largest number is 65504, and changes may move
  /// numbers that count by a half.
  static Rounding ofF16(double lossScale) {
    return {.change = {0x1p-10, 0x1p-24},
            .minTolerance = 0x1p-10,
            .unstable = 0.5,
            .largest = 65504.0 / 2,
            .lossScale = lossScale};
  }
};

/// Interprets the program in `module` (phase `model`, unchanged): instantiated and differentiated for one
/// rank, then run on each rank's samples. It uses nothing that is tested, except for gradients of ops and the
/// expansion of layers. Fails if the program is invalid, or its numbers are non-finite.
mlir::FailureOr<Step> expectStep(mlir::ModuleOp module, size_t ranks, unsigned seed,
                                 const Rounding &rounding);

} // namespace trainc::programs
