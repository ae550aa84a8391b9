// A step of a program as its compiled plan computes it. Free of MLIR.
#pragma once

#include "runtime/base/status.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trainc::programs {

/// The learning rate: large, so that gradients are not lost among the parameters' digits.
constexpr float kLearningRate = 64;

using Parameters = std::map<std::string, std::vector<float>, std::less<>>;

/// What a step begins with.
struct StepInputs {
  Parameters parameters;
  /// Of each micro-batch the samples' bytes, by column: those of the first rank, then those of the next.
  std::vector<std::map<std::string, std::vector<std::byte>, std::less<>>> samples;
};

/// What a plan made of a step.
struct ComputedStep {
  Parameters parameters; ///< after the step
  float loss = 0, evalLoss = 0, evalTargets = 0;
};

/// Evaluates and trains one step on as many ranks as the plan is for, as threads: on the CPU, or, where a
/// seed is given, on emulated asynchronous devices.
Result<ComputedStep> runPlan(const std::vector<uint8_t> &payload, const StepInputs &step,
                             std::optional<uint64_t> emulationSeed = std::nullopt);

} // namespace trainc::programs
