#include "runtime/exec/step_runner.h"

#include "runtime/log/units.h"

#include <cmath>
#include <limits>

namespace trainc {

namespace {

constexpr std::string_view kBeginStep = "begin_step", kMicroStep = "micro_step", kUpdate = "update";

} // namespace

StepRunner::StepRunner(Executor &executor, const Dataset &dataset)
    : executor_(executor), accumulate_(executor.plan().training()->accumulate()),
      beginFeeder_(executor, kBeginStep, dataset), microFeeder_(executor, kMicroStep, dataset),
      updateFeeder_(executor, kUpdate, dataset) {}

template <typename Visitor>
void StepRunner::forEachEntry(const StepScalars &scalars, const StepBatch &batch, Visitor visit) {
  executor_.setScalar("lr", scalars.lr);
  executor_.setScalar("seed", scalars.seed);
  executor_.setScalar("step", scalars.step);
  if (executor_.hasEntry(kBeginStep)) {
    beginFeeder_.feed(batch, 0);
    if (!visit(kBeginStep))
      return;
  }
  for (uint64_t micro = 0; micro < accumulate_; ++micro) {
    executor_.setScalar("micro", micro);
    microFeeder_.feed(batch, micro);
    if (!visit(kMicroStep))
      return;
  }
  if (executor_.hasEntry(kUpdate)) {
    updateFeeder_.feed(batch, 0);
    visit(kUpdate);
  }
}

StepResult StepRunner::run(const StepScalars &scalars, const StepBatch &batch) {
  forEachEntry(scalars, batch, [&](std::string_view entry) {
    executor_.run(entry);
    return true;
  });
  StepResult result;
  const auto scalar = [&](std::string_view name) {
    return withoutNanSign(executor_.scalar<float>(name).value_or(std::numeric_limits<float>::quiet_NaN()));
  };
  result.loss = scalar("loss");
  result.gradNorm = scalar("grad_norm");
  result.finite = executor_.scalar<float>("finite").value_or(0) != 0;
  return result;
}

std::optional<NonFinite> StepRunner::replay(const StepScalars &scalars, const StepBatch &batch) {
  std::optional<NonFinite> found;
  forEachEntry(scalars, batch, [&](std::string_view entry) {
    found = executor_.replay(entry);
    return !found;
  });
  return found;
}

} // namespace trainc
