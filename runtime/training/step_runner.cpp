#include "runtime/training/step_runner.h"

#include "runtime/log/units.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace trainc {

double learningRate(const fb::Schedule &schedule, uint64_t step, uint64_t steps) {
  const uint64_t warmup = schedule.warmup();
  if (step < warmup)
    return schedule.peak() * static_cast<double>(step + 1) / static_cast<double>(warmup);
  if (schedule.kind() == fb::ScheduleKind::Constant)
    return schedule.peak();
  const uint64_t total = schedule.total() ? schedule.total() : steps;
  if (step >= total)
    return schedule.minimum();
  const double progress = static_cast<double>(step - warmup) / static_cast<double>(total - warmup);
  const double factor = schedule.kind() == fb::ScheduleKind::Linear
                            ? 1 - progress
                            : (1 + std::cos(std::numbers::pi * progress)) / 2;
  return schedule.minimum() + (schedule.peak() - schedule.minimum()) * factor;
}

StepRunner::StepRunner(Executor &executor, const Dataset &dataset)
    : executor_(executor), accumulate_(executor.plan().training()->accumulate()),
      beginFeeder_(executor, kBeginStep, dataset), microFeeder_(executor, kMicroStep, dataset),
      lastFeeder_(executor, kLastMicroStep, dataset), updateFeeder_(executor, kUpdate, dataset) {}

uint64_t StepRunner::runs(const Executor &executor, std::string_view entry) {
  if (!executor.hasEntry(entry) || std::ranges::find(kStepEntries, entry) == kStepEntries.end())
    return 0;
  if (entry != kMicroStep)
    return 1;
  return executor.plan().training()->accumulate() - runs(executor, kLastMicroStep);
}

template <typename Visitor>
Status StepRunner::forEachEntry(const StepScalars &scalars, const StepBatch &batch, Visitor visit) {
  Status status = visitEntries(scalars, batch, visit).status();
  if (status.ok())
    status = executor_.synchronise();
  if (status.ok())
    return status;
  return Status(status.code(), fmt::format("step {}: {}", scalars.step + 1, status.message()));
}

template <typename Visitor>
Result<bool> StepRunner::visitEntries(const StepScalars &scalars, const StepBatch &batch, Visitor visit) {
  executor_.setScalar("lr", scalars.lr);
  executor_.setScalar("seed", scalars.seed);
  executor_.setScalar("step", scalars.step);
  if (executor_.hasEntry(kBeginStep)) {
    beginFeeder_.feed(batch, 0);
    TRAINC_ASSIGN_OR_RETURN(const bool goOn, visit(kBeginStep));
    if (!goOn)
      return false;
  }
  const uint64_t microSteps = runs(executor_, kMicroStep);
  for (uint64_t micro = 0; micro < accumulate_; ++micro) {
    executor_.setScalar("micro", executor_.rank() * accumulate_ + micro);
    const bool last = micro == microSteps;
    (last ? lastFeeder_ : microFeeder_).feed(batch, micro);
    TRAINC_ASSIGN_OR_RETURN(const bool goOn, visit(last ? kLastMicroStep : kMicroStep));
    if (!goOn)
      return false;
  }
  if (!executor_.hasEntry(kUpdate))
    return true;
  updateFeeder_.feed(batch, 0);
  return visit(kUpdate);
}

Result<StepResult> StepRunner::run(const StepScalars &scalars, const StepBatch &batch) {
  const CommunicationSeconds secondsBefore = executor_.communicationSeconds();
  const uint64_t sentBefore = executor_.sentBytes();
  TRAINC_RETURN_IF_ERROR(forEachEntry(scalars, batch, [&](std::string_view entry) -> Result<bool> {
    TRAINC_RETURN_IF_ERROR(executor_.enqueue(entry));
    return true;
  }));
  StepResult result;
  const auto scalar = [&](std::string_view name) {
    return withoutNanSign(executor_.scalar<float>(name).value_or(std::numeric_limits<float>::quiet_NaN()));
  };
  result.loss = scalar("loss");
  result.gradNorm = scalar("grad_norm");
  result.finite = executor_.scalar<float>("finite").value_or(0) != 0;
  result.communication = executor_.communicationSeconds() - secondsBefore;
  result.sentBytes = executor_.sentBytes() - sentBefore;
  return result;
}

Result<std::optional<NonFinite>> StepRunner::replay(const StepScalars &scalars, const StepBatch &batch) {
  std::optional<NonFinite> found;
  TRAINC_RETURN_IF_ERROR(forEachEntry(scalars, batch, [&](std::string_view entry) -> Result<bool> {
    TRAINC_ASSIGN_OR_RETURN(found, executor_.replay(entry));
    return !found;
  }));
  return found;
}

} // namespace trainc
