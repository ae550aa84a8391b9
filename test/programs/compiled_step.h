// A step of a program as its compiled plan computes it. Free of MLIR.
#pragma once

#include "base/status.h"

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

/// Inputs of a step.
struct StepInputs {
  Parameters parameters;
  /// The samples' bytes of each micro-batch, by column: those of the first rank, then those of the next.
  std::vector<std::map<std::string, std::vector<std::byte>, std::less<>>> samples;
  /// Tokens for a plan that generates text: the first `prompt` at once, the others one by one.
  std::vector<int32_t> tokens;
  size_t prompt = 0;
};

/// Results of a step.
struct ComputedStep {
  Parameters parameters; ///< after the step
  float loss = 0, evalLoss = 0, evalTargets = 0;
  bool isFinite = false; ///< the plan's own check of loss and gradients
  /// For a plan that generates text: logits after each of the last tokens, from the prompt's last on.
  std::vector<std::vector<float>> logits;
};

/// Execution environment of a rank.
struct RankDevice {
  unsigned threads = 1;                                 ///< of the CPU
  std::optional<uint64_t> emulationSeed = std::nullopt; ///< of an emulated asynchronous device in its place
};

/// The runtime's verification of a plan.
Status verifyPlan(const std::vector<uint8_t> &payload);

/// Evaluates and trains one step on as many ranks as the plan is for, as threads.
Result<ComputedStep> runPlan(const std::vector<uint8_t> &payload, const StepInputs &step,
                             const RankDevice &device);

} // namespace trainc::programs
