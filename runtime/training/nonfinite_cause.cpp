#include "runtime/training/nonfinite_cause.h"

#include "plan/facts/settings.h"
#include "plan/settings/settings.h"
#include "runtime/training/state_tensors.h"

#include <algorithm>
#include <cmath>

namespace trainc {

Result<std::string> NonFiniteCause::agreeOnText(const std::optional<std::string> &own, std::string_view owner,
                                                std::string_view held) const {
  TRAINC_ASSIGN_OR_RETURN(const std::span<const uint32_t> found,
                          executor_.control().gather(uint32_t{own.has_value()}));
  if (own)
    return *own;
  const auto first = std::ranges::find(found, 1U);
  return first == found.end() ? ""
                              : fmt::format("{} of rank {} holds {}", owner, first - found.begin(), held);
}

/// A run begins with finite weights unless an initialiser makes others: those of files are checked. Later,
/// the update of the step before is to blame, whose gradients were finite.
Result<std::string> NonFiniteCause::inWeights(uint64_t stepsDone) const {
  TRAINC_ASSIGN_OR_RETURN(const std::optional<std::string> own, findNonFiniteParameter(executor_));
  TRAINC_ASSIGN_OR_RETURN(const std::string found, agreeOnText(own, "a parameter", "a non-finite value"));
  if (found.empty())
    return found;
  if (stepsDone == 0)
    return fmt::format("Before the step, {}; look at its initialiser in the model", found);
  return fmt::format("Before the step, {}, from the update of step {}. Lower the learning rate, and begin "
                     "with weights from before that step",
                     found, stepsDone);
}

Result<std::string> NonFiniteCause::inMaskedTarget(const StepBatch &batch) const {
  return agreeOnText(
      dataset_.findMaskedClass(batch.samples(), [&](size_t column) { return batch.step(column); }),
      "The data", "a target in a masked class");
}

Result<std::string> NonFiniteCause::inData(const StepBatch &batch) const {
  std::optional<std::string> own;
  for (size_t column = 0; column < dataset_.columns().size() && !own; ++column)
    own = dataset_.findNonFinite(column, batch.samples(), batch.step(column));
  return agreeOnText(own, "The data", "a non-finite value");
}

/// Ends of messages about steps that are not finite.
static constexpr const char *kSkip = "; --on-nonfinite=skip goes on without such steps";
static constexpr const char *kRepair =
    ". Repair that sample, or leave it out; --on-nonfinite=skip goes on without such steps";

static std::string adviceOnNonFinite(const fb::Plan &plan, const StepResult &result) {
  std::string advice;
  if (result.loss == HUGE_VALF &&
      std::isfinite(result.gradNorm)) // rates that are too high usually break both
    advice = "As the gradient is finite, a target may be in a class that the model excludes with -inf. ";
  advice += "Lower the learning rate or look at the data of this step";
  const PlanSettings settings(plan);
  if (train::kPrecision.of(settings) == train::Precision::fp16)
    advice += "; f16 overflows above 65504, so a lower --loss-scale or --precision=bf16 may help";
  if (train::kReduceType.of(settings) == train::NumberType::f16)
    advice += "; gradients are sent in f16, so --reduce-type=bf16 may help";
  return advice;
}

Result<std::string> NonFiniteCause::inStep(const StepScalars &scalars, const StepResult &result,
                                           const StepBatch &batch) {
  TRAINC_ASSIGN_OR_RETURN(const std::string target, inMaskedTarget(batch));
  if (!target.empty())
    return target + kRepair;
  TRAINC_ASSIGN_OR_RETURN(const std::optional<std::string> ownHuge, findHugeParameter(executor_));
  TRAINC_ASSIGN_OR_RETURN(const std::string huge,
                          agreeOnText(ownHuge, "a parameter", "a magnitude above 1e30"));
  TRAINC_ASSIGN_OR_RETURN(const std::optional<NonFinite> culprit, runner_.replay(scalars, batch));
  TRAINC_ASSIGN_OR_RETURN(const std::string data, inData(batch));
  const std::string replayed =
      culprit ? culprit->message()
              : "every value is finite; suspect the memory or the processor of this machine";
  return fmt::format(
      "Replayed: {}\n{}{}{}", replayed, huge.empty() ? "" : fmt::format("Before the step, {}. ", huge),
      data.empty() ? adviceOnNonFinite(executor_.plan(), result) : data, data.empty() ? kSkip : kRepair);
}

} // namespace trainc
