// One training step: its learning rate, begin_step, the micro-batches, update.
#pragma once

#include "runtime/schema/plan_generated.h"
#include "runtime/training/batch_feeder.h"

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace trainc {

/// The rate of the 0-based `step` in a run of `steps`. With w = warmup and T = total (or `steps` where total
/// is 0):
///   step < w:           peak (step + 1) / w
///   constant:           peak
///   step >= T:          minimum
///   linear and cosine:  minimum + (peak - minimum) f(p), p = (step - w) / (T - w),
///                       f(p) = 1 - p, or (1 + cos(pi p)) / 2
double learningRate(const fb::Schedule &schedule, uint64_t step, uint64_t steps);

/// What the host tells the device of a step.
struct StepScalars {
  uint64_t seed = 0;
  uint64_t step = 0; ///< 0-based
  float lr = 0;
};

/// What the device tells the host.
struct StepResult {
  float loss = 0;                          ///< mean over the non-ignored targets of the step
  float gradNorm = 0;                      ///< before clipping; NaN where the plan computes none
  bool finite = true;                      ///< false: the update was not applied
  CommunicationSeconds communication = {}; ///< of this rank
  uint64_t sentBytes = 0;                  ///< by this rank, in collectives
};

inline constexpr std::string_view kBeginStep = "begin_step", kMicroStep = "micro_step",
                                  kLastMicroStep = "last_micro_step", kUpdate = "update";
/// The entries of a training step, of which a plan has some.
inline constexpr std::initializer_list<std::string_view> kStepEntries = {kBeginStep, kMicroStep,
                                                                         kLastMicroStep, kUpdate};

/// Runs the entries of a training step in their order.
class StepRunner {
public:
  /// `executor`'s plan must be one that trains; see BatchFeeder for `dataset`.
  StepRunner(Executor &executor, const Dataset &dataset);

  /// How often a step of the plan runs an entry.
  static uint64_t runs(const Executor &executor, std::string_view entry);

  /// Fails (kFailed), naming the step and the instruction, when a collective cannot be completed.
  Result<StepResult> run(const StepScalars &scalars, const StepBatch &batch);
  /// Runs a step again, instruction by instruction, and tells what wrote the first value that is not finite,
  /// on whichever rank. Fails as run() does.
  Result<std::optional<NonFinite>> replay(const StepScalars &scalars, const StepBatch &batch);

private:
  /// Sets scalars and inputs of each entry of the step in turn and calls `visit(name)`, which tells whether
  /// to go on. Errors are located in the step.
  template <typename Visitor>
  Status forEachEntry(const StepScalars &scalars, const StepBatch &batch, Visitor visit);
  template <typename Visitor>
  Result<bool> visitEntries(const StepScalars &scalars, const StepBatch &batch, Visitor visit);

  Executor &executor_;
  uint64_t accumulate_;
  BatchFeeder beginFeeder_, microFeeder_, lastFeeder_, updateFeeder_;
};

} // namespace trainc
