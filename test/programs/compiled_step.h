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
  /// What a plan that generates text is given, the first `prompt` at once, the others one by one.
  std::vector<int32_t> tokens;
  size_t prompt = 0;
};

/// What a plan made of a step.
struct ComputedStep {
  Parameters parameters; ///< after the step
  float loss = 0, evalLoss = 0, evalTargets = 0;
  bool isFinite = false; ///< what the plan says of loss and gradients
  /// Of a plan that generates text: behind each of the last tokens, from the prompt's last on.
  std::vector<std::vector<float>> logits;
};

/// What a rank runs on.
struct RankDevice {
  unsigned threads = 1;                                 ///< of the CPU
  std::optional<uint64_t> emulationSeed = std::nullopt; ///< of an emulated asynchronous device in its place
};

/// What the runtime says of a plan before it runs it.
Status verifyPlan(const std::vector<uint8_t> &payload);

/// Evaluates and trains one step on as many ranks as the plan is for, as threads.
Result<ComputedStep> runPlan(const std::vector<uint8_t> &payload, const StepInputs &step,
                             const RankDevice &device);

} // namespace trainc::programs
