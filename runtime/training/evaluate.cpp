#include "runtime/training/evaluate.h"

#include "base/units.h"
#include "plan/schema/entry_names.h"
#include "runtime/training/state_tensors.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace trainc {

namespace {

/// Whether the host can pad an incomplete batch (Input.pads): the samples that fill it contribute to no loss.
bool canPad(std::span<const InputView> inputs) {
  return std::ranges::any_of(inputs, [](const InputView &input) { return input.info->pads(); });
}

} // namespace

EvalMetrics metricsOf(const EvalResult &result, uint64_t step, double seconds) {
  return {step, result.loss, result.perplexity, result.samples, seconds, result.sentBytes};
}

Evaluator::Evaluator(Executor &executor, const Dataset &dataset)
    : executor_(executor), dataset_(dataset), batch_(executor.plan().training()->eval_batch()),
      samples_(dataset.samples()) {
  if (!canPad(executor.inputs(kEvalEntry)))
    samples_ -= samples_ % batch_;
  for (const InputView &input : executor.inputs(kEvalEntry))
    staging_.emplace_back(input.memory.bytes);
  indices_.resize(batch_);
}

Result<Evaluator> Evaluator::create(Executor &executor, const Dataset &dataset) {
  const fb::Training *training = executor.plan().training();
  if (!training || training->eval_batch() == 0 || !executor.hasEntry(kEvalEntry))
    return invalidInput("--eval-data: plan '{}' has no entry 'eval'; compile the model with one",
                        executor.plan().name()->str());
  Evaluator evaluator(executor, dataset);
  if (evaluator.samples() == 0)
    return invalidInput("--eval-data: expected at least {} samples (the plan's evaluation batch), found {}",
                        training->eval_batch(), dataset.samples());
  TRAINC_RETURN_IF_ERROR(evaluator.checkValues());
  return evaluator;
}

/// Reads and checks all integers before training: the first evaluation may come after hours.
Status Evaluator::checkValues() {
  const ControlChannel &control = executor_.control();
  const std::span<const InputView> inputs = executor_.inputs(kEvalEntry);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!isInteger(inputs[i].info->dtype()))
      continue;
    const size_t column = *dataset_.findColumn(columnSpec(*inputs[i].info));
    for (uint64_t batch = control.rank(); batch < batches(); batch += control.ranks())
      TRAINC_RETURN_IF_ERROR(dataset_.fill(column, batchSamples(batch), staging_[i]));
  }
  return {};
}

std::span<const uint64_t> Evaluator::batchSamples(uint64_t batch) {
  const uint64_t first = batch * batch_;
  const std::span<uint64_t> indices = std::span(indices_).first(std::min(batch_, samples_ - first));
  std::iota(indices.begin(), indices.end(), first);
  return indices;
}

Status Evaluator::feed(uint64_t batch) {
  const auto localWait = executor_.control().localWait();
  const std::span<const uint64_t> indices = batchSamples(batch);
  const std::span<const InputView> inputs = executor_.inputs(kEvalEntry);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::optional<size_t> column = dataset_.findColumn(columnSpec(*inputs[i].info));
    assert(column && "the data set was opened without the eval entry's columns");
    TRAINC_RETURN_IF_ERROR(dataset_.fill(*column, indices, staging_[i]));
    executor_.write(inputs[i].memory, staging_[i]);
  }
  return {};
}

/// A rank that has no batch left repeats the last batch, because the entry may contain collectives.
Result<bool> Evaluator::runRound(uint64_t first, bool wantsToStop, double &loss, double &targets) {
  struct Sums {
    float loss, targets;
  };
  ControlChannel &control = executor_.control();
  const Status fed = feed(std::min(first + control.rank(), batches() - 1));
  TRAINC_ASSIGN_OR_RETURN(const bool stop, control.anyStops(wantsToStop, fed));
  if (stop)
    return true;
  TRAINC_RETURN_IF_ERROR(executor_.enqueue(kEvalEntry));
  Sums own{};
  executor_.scalars().read("eval_loss", own.loss);
  executor_.scalars().read("eval_targets", own.targets);
  TRAINC_RETURN_IF_ERROR(executor_.synchronise());
  TRAINC_ASSIGN_OR_RETURN(const std::span<const Sums> sums, control.gather(own));
  for (const Sums &each : sums.first(std::min<uint64_t>(sums.size(), batches() - first))) {
    loss += each.loss;
    targets += each.targets;
  }
  return false;
}

/// Returns an error that names the cause of a non-finite loss. Slow, because it reads all data again.
Status Evaluator::explainNonFiniteLoss(double loss) {
  const std::string what =
      fmt::format("evaluation: the loss is {}, the mean over {} samples", loss, samples_);
  TRAINC_ASSIGN_OR_RETURN(const auto weights, findNonFiniteParameter(executor_));
  if (weights)
    return failed("{}: {}", what, *weights);
  const std::span<const InputView> inputs = executor_.inputs(kEvalEntry);
  std::vector<std::span<const std::byte>> rows(dataset_.columns().size());
  // A target in a masked class takes precedence: the infinities of a mask are legal.
  std::optional<std::string> target, value;
  for (uint64_t batch = 0; batch < batches() && !target; ++batch) {
    const std::span<const uint64_t> samples = batchSamples(batch);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const size_t column = *dataset_.findColumn(columnSpec(*inputs[i].info));
      TRAINC_RETURN_IF_ERROR(dataset_.fill(column, samples, staging_[i]));
      rows[column] = staging_[i];
    }
    target = dataset_.findMaskedClass(samples, [&](size_t column) { return rows[column]; });
    for (size_t column = 0; column < rows.size() && !value; ++column)
      if (!rows[column].empty())
        value = dataset_.findNonFinite(column, samples, rows[column]);
  }
  if (target || value)
    return failed("{}. {}. Repair that sample, or leave it out", what, target ? *target : *value);
  if (loss == HUGE_VAL)
    return failed(
        "{}; the data holds numbers only: look for a target in a class that the model excludes with "
        "-inf, and at the weights",
        what);
  return failed("{}; the data holds numbers only, so look at the weights", what);
}

Result<std::optional<EvalResult>> Evaluator::run(const std::function<bool()> &stopRequested) {
  double sum = 0;
  EvalResult result;
  const uint64_t sentBefore = executor_.sentBytes();
  for (uint64_t first = 0; first < batches(); first += executor_.control().ranks()) {
    TRAINC_ASSIGN_OR_RETURN(const bool stop,
                            runRound(first, stopRequested && stopRequested(), sum, result.targets));
    if (stop)
      return std::optional<EvalResult>();
  }
  if (result.targets == 0)
    return failed("evaluation: all targets of the {} samples are ignored, so there is no mean loss",
                  samples_);
  if (!std::isfinite(sum))
    return explainNonFiniteLoss(withoutNanSign(sum / result.targets));
  result.samples = samples_;
  result.loss = sum / result.targets;
  if (executor_.plan().training()->likelihood())
    result.perplexity = std::exp(result.loss);
  if (executor_.plan().ranks() > 1)
    result.sentBytes = executor_.sentBytes() - sentBefore;
  return std::optional(result);
}

} // namespace trainc
