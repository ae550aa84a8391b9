#include "runtime/training/step_runner.h"

#include "base/units.h"

#include <cmath>
#include <limits>

namespace trainc {

std::vector<ColumnSpec> entryColumns(const Executor &executor,
                                     std::initializer_list<std::string_view> entries) {
  std::vector<const fb::Input *> inputs;
  for (const std::string_view entry : entries)
    for (const InputView &input : executor.inputs(entry))
      inputs.push_back(input.info);
  return distinctColumns(inputs);
}

BatchFeeder::BatchFeeder(Executor &executor, std::string_view entry, const Dataset &dataset)
    : executor_(executor) {
  for (const InputView &input : executor.inputs(entry)) {
    const std::optional<size_t> index = dataset.findColumn(columnSpec(*input.info));
    assert(index && "the data set was opened without this entry's columns");
    columns_.push_back({input, *index});
  }
}

void BatchFeeder::feed(const StepBatch &batch, uint64_t micro) const {
  for (const Column &column : columns_) {
    const bool whole = column.input.info->extent() == fb::BatchExtent::Step;
    executor_.write(column.input.memory, whole ? batch.step(column.index) : batch.micro(column.index, micro));
  }
}

StepRunner::StepRunner(Executor &executor, const Dataset &dataset)
    : executor_(executor), accumulate_(executor.plan().training()->accumulate()),
      beginFeeder_(executor, kBeginStepEntry, dataset), microFeeder_(executor, kMicroStepEntry, dataset),
      lastFeeder_(executor, kLastMicroStepEntry, dataset), updateFeeder_(executor, kUpdateEntry, dataset) {}

struct StepRunner::DeviceScalars {
  static constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

  float loss = kNone, gradNorm = kNone, targets = kNone, finite = 0, overflow = 0, lossScale = kNone;

  void enqueueReads(Executor &executor) {
    executor.scalars().read("loss", loss);
    executor.scalars().read("grad_norm", gradNorm);
    executor.scalars().read("targets", targets);
    executor.scalars().read("finite", finite);
    executor.scalars().read("overflow", overflow);
    executor.scalars().read("step_loss_scale", lossScale);
  }

  StepResult result() const {
    StepResult result{.loss = withoutNanSign(loss),
                      .gradNorm = withoutNanSign(gradNorm),
                      .targets = targets,
                      .updateApplied = finite != 0,
                      // The loss is not scaled: if it is non-finite itself, no scale helps.
                      .overflow = overflow != 0 && std::isfinite(loss)};
    if (!std::isnan(lossScale))
      result.lossScale = lossScale;
    return result;
  }
};

Status StepRunner::finish(const StepScalars &scalars, Status status) {
  if (status.ok())
    status = executor_.synchronise();
  if (status.ok())
    return status;
  return Status(status.code(), fmt::format("step {}: {}", scalars.step + 1, status.message()));
}

template <typename Visitor>
Result<bool> StepRunner::visitEntries(const StepScalars &scalars, const StepBatch &batch, Visitor visit) {
  executor_.scalars().set("lr", scalars.lr);
  executor_.scalars().set("seed", scalars.seed);
  executor_.scalars().set("step", scalars.step);
  if (executor_.hasEntry(kBeginStepEntry)) {
    beginFeeder_.feed(batch, 0);
    TRAINC_ASSIGN_OR_RETURN(const bool goOn, visit(kBeginStepEntry));
    if (!goOn)
      return false;
  }
  for (uint64_t micro = 0; micro < accumulate_; ++micro) {
    executor_.scalars().set("micro", executor_.rank() * accumulate_ + micro);
    const bool last = micro + 1 == accumulate_ && executor_.hasEntry(kLastMicroStepEntry);
    (last ? lastFeeder_ : microFeeder_).feed(batch, micro);
    TRAINC_ASSIGN_OR_RETURN(const bool goOn, visit(last ? kLastMicroStepEntry : kMicroStepEntry));
    if (!goOn)
      return false;
  }
  if (!executor_.hasEntry(kUpdateEntry))
    return true;
  updateFeeder_.feed(batch, 0);
  return visit(kUpdateEntry);
}

Result<StepResult> StepRunner::run(const StepScalars &scalars, const StepBatch &batch) {
  const std::optional<CommunicationSeconds> secondsBefore = executor_.communicationSeconds();
  const uint64_t sentBefore = executor_.sentBytes();
  const Status enqueued = visitEntries(scalars, batch, [&](std::string_view entry) -> Result<bool> {
                            TRAINC_RETURN_IF_ERROR(executor_.enqueue(entry));
                            return true;
                          }).status();
  DeviceScalars told;
  if (enqueued.ok())
    told.enqueueReads(executor_);
  TRAINC_RETURN_IF_ERROR(finish(scalars, enqueued)); // the only wait of the step
  StepResult result = told.result();
  if (const std::optional<CommunicationSeconds> seconds = executor_.communicationSeconds())
    result.communication = *seconds - secondsBefore.value_or(CommunicationSeconds{});
  result.sentBytes = executor_.sentBytes() - sentBefore;
  return result;
}

Result<std::optional<NonFinite>> StepRunner::replay(const StepScalars &scalars, const StepBatch &batch) {
  std::optional<NonFinite> found;
  const Status replayed = visitEntries(scalars, batch, [&](std::string_view entry) -> Result<bool> {
                            TRAINC_ASSIGN_OR_RETURN(found, executor_.replay(entry));
                            return !found;
                          }).status();
  TRAINC_RETURN_IF_ERROR(finish(scalars, replayed));
  return found;
}

} // namespace trainc
