// Search for the cause of a step whose loss or gradient is not finite.
#pragma once

#include "runtime/training/step_runner.h"

#include <string>

namespace trainc {

/// Looks for what made the numbers of a step non-finite, or its loss too large. All ranks call the same
/// functions together, for the same step. The executor, the data set and the runner must outlive it.
class NonFiniteCause {
public:
  NonFiniteCause(Executor &executor, const Dataset &dataset, StepRunner &runner)
      : executor_(executor), dataset_(dataset), runner_(runner) {}

  /// Returns which parameter was non-finite before the step, which `stepsDone` steps preceded; "" if none
  /// was.
  Result<std::string> inWeights(uint64_t stepsDone) const;
  /// Returns which target of the batch is in a class that a mask excludes; "" if none is.
  Result<std::string> inMaskedTarget(const StepBatch &batch) const;
  /// Returns the cause in a step whose weights were finite, and what to do about it. May replay the step,
  /// which writes to the states.
  Result<std::string> inStep(const StepScalars &scalars, const StepResult &result, const StepBatch &batch);

private:
  Result<std::string> inData(const StepBatch &batch) const;
  /// Returns `own` if this rank has a text, else "OWNER of rank N holds HELD" with the first rank that has
  /// one, else "".
  Result<std::string> agreeOnText(const std::optional<std::string> &own, std::string_view owner,
                                  std::string_view held) const;

  Executor &executor_;
  const Dataset &dataset_;
  StepRunner &runner_;
};

} // namespace trainc
