#include "runtime/training/train_loop.h"

#include "base/clock.h"
#include "plan/facts/counts.h"
#include "plan/facts/step_entries.h"
#include "runtime/training/learning_rate.h"
#include "runtime/training/step_runner.h"

#include <algorithm>
#include <utility>

namespace trainc {

TrainLoop::TrainLoop(TrainParts parts, TrainOptions options, TrainerState start)
    : parts_(std::move(parts)), options_(options), position_(std::move(start)),
      runner_(parts_.executor, parts_.dataset), cause_(parts_.executor, parts_.dataset, runner_),
      samplesPerStep_(samplesPerStep(parts_.executor.plan())),
      tokensPerSample_(std::max<uint64_t>(1, parts_.executor.plan().training()->seq_len())) {}

Status TrainLoop::run() {
  Status status = runSteps();
  if (status.ok())
    status = waitForCopies();
  const Status saved = saveLast();
  parts_.observers.tell(&RunObserver::onEnd);
  if (!status.ok() && !saved.ok())
    warn(saved.message());
  if (status.ok())
    status = saved;
  if (!isNonFinite_ || !parts_.checkpoints)
    return status;
  const std::filesystem::path latest = parts_.checkpoints->latest();
  return Status(status.code(), fmt::format("{}\n{}", status.message(),
                                           latest.empty() ? "There is no checkpoint"
                                                          : "The last checkpoint is " + latest.string()));
}

/// Waits for the last step's disk copies, which may still be in flight.
Status TrainLoop::waitForCopies() {
  const Status status = parts_.executor.waitForCopies();
  return status.ok()
             ? status
             : Status(status.code(), fmt::format("after step {}: {}", position_.step, status.message()));
}

Status TrainLoop::saveLast() {
  if (!parts_.checkpoints)
    return {};
  if (!parts_.executor.broken() && !hasBadWeights_)
    TRAINC_RETURN_IF_ERROR(parts_.checkpoints->save(position_));
  return parts_.checkpoints->finish();
}

Status TrainLoop::runSteps() {
  if (position_.step >= options_.steps) {
    const LearningRateCourse course = courseOfRun();
    const bool isScheduleOver = decaysToZero(course) && position_.step >= course.steps &&
                                parts_.executor.plan().training()->schedule()->total() > 0;
    parts_.observers.warnOnRank0(fmt::format(
        "nothing is left to train: step {} is done, and the training ends with step {}; give --steps a "
        "number above {} to go on{}",
        position_.step, options_.steps, position_.step,
        isScheduleOver ? fmt::format(", with a plan whose schedule has a larger total than {}: the rate is 0 "
                                     "after it",
                                     course.steps)
                       : ""));
    return parts_.evaluator ? evaluate() : Status();
  }
  beginCourse();
  const fb::Training &training = *parts_.executor.plan().training();
  const uint64_t samples = parts_.dataset.samples();
  std::optional<Loader> loader(std::in_place, parts_.dataset,
                               position_.shuffle ? SampleOrder::shuffled(samples, position_.seed)
                                                 : SampleOrder::sequential(samples),
                               LoaderOptions{.microBatch = training.micro_batch(),
                                             .accumulate = training.accumulate(),
                                             .rank = parts_.executor.rank(),
                                             .ranks = parts_.executor.plan().ranks(),
                                             .firstStep = position_.step,
                                             .firstPosition = position_.samples});
  const Status status = runSteps(*loader);
  const auto time = localWait();
  loader.reset(); // waits for its prefetch
  return status;
}

Status TrainLoop::runSteps(Loader &loader) {
  if (parts_.secondsSinceStart)
    startSeconds_ = parts_.secondsSinceStart();
  while (!stopped_ && position_.step < options_.steps) {
    TRAINC_RETURN_IF_ERROR(runStep(loader));
    if (stopped_)
      break;
    if (parts_.checkpoints)
      TRAINC_RETURN_IF_ERROR(parts_.checkpoints->advance());
    const bool last = position_.step == options_.steps;
    const auto due = [&](uint64_t every) { return every && position_.step % every == 0; };
    // Before the evaluation, which takes time and may fail.
    if (parts_.checkpoints && (last || due(options_.checkpointEvery)))
      TRAINC_RETURN_IF_ERROR(parts_.checkpoints->save(position_));
    if (parts_.evaluator && (last || due(options_.evalEvery)))
      TRAINC_RETURN_IF_ERROR(evaluate());
  }
  return {};
}

Result<StepBatch> TrainLoop::nextBatch(Loader &loader) const {
  const auto time = localWait();
  return loader.next(position_.step);
}

Status TrainLoop::agreeOnStep(const Status &batch) {
  const Result<bool> stop = parts_.executor.control().anyStops(wantsToStop(), batch);
  if (!stop.ok() && batch.ok())
    return failed("between steps, before step {}: {}", position_.step + 1, stop.status().message());
  TRAINC_RETURN_IF_ERROR(stop.status());
  stopped_ = *stop;
  return {};
}

Status TrainLoop::runStep(Loader &loader) {
  const double begin = steadySeconds();
  const Result<StepBatch> batch = nextBatch(loader);
  TRAINC_RETURN_IF_ERROR(agreeOnStep(batch.status()));
  if (stopped_)
    return {};
  const auto measured = parts_.executor.trainingStep(position_.step + 1, begin);
  const StepScalars scalars{position_.seed, position_.step,
                            static_cast<float>(learningRate(*position_.learningRate, scheduleStep()))};
  TRAINC_ASSIGN_OR_RETURN(const StepResult result, runner_.run(scalars, *batch));
  if (result.overflow)
    skip(result);
  report(scalars, result, steadySeconds() - begin);
  TRAINC_RETURN_IF_ERROR(checkFinite(scalars, result, *batch));
  TRAINC_RETURN_IF_ERROR(checkMaskedTargets(scalars, result, *batch));
  position_.step += 1;
  position_.samples += samplesPerStep_;
  position_.tokens += samplesPerStep_ * tokensPerSample_;
  return {};
}

uint64_t TrainLoop::scheduleStep() const {
  const bool skippedAdvance = parts_.executor.plan().training()->schedule()->skipped_advance();
  return position_.step - (skippedAdvance ? 0 : position_.skippedSteps);
}

LearningRateCourse TrainLoop::courseOfRun() const {
  return courseOf(*parts_.executor.plan().training()->schedule(), options_.steps);
}

void TrainLoop::beginCourse() {
  const LearningRateCourse course = courseOfRun();
  const std::optional<LearningRateCourse> before = std::exchange(position_.learningRate, course);
  if (before && !areSameRates(*before, course) && scheduleStep() > 0)
    parts_.observers.warnOnRank0(describeChange(*before, course, scheduleStep()));
  if (const uint64_t warmup = warmupOf(course); warmup > options_.steps)
    parts_.observers.warnOnRank0(fmt::format(
        "a run of {} steps ends within the schedule's warmup of {} steps, before the learning rate "
        "reaches {:g}",
        options_.steps, warmup, course.peak));
  if (const uint64_t decay = decayOf(course); decay > course.steps - std::min(course.steps, warmupOf(course)))
    parts_.observers.warnOnRank0(fmt::format(
        "the schedule's decay of {} steps does not fit after the warmup of {} steps into {} steps: "
        "the rate falls from the warmup on",
        decay, warmupOf(course), course.steps));
  if (decaysToZero(course) && options_.steps > course.steps)
    parts_.observers.warnOnRank0(fmt::format(
        "a run of {} steps goes beyond the schedule's total of {} steps, after which the learning "
        "rate is 0: later steps train nothing; compile for a larger total",
        options_.steps, course.steps));
}

void TrainLoop::skip(const StepResult &result) {
  if (position_.skippedSteps++ == 0)
    note(
        fmt::format("step {}: gradients overflow at the loss scale {}; such steps are skipped, and the scale "
                    "shrinks; later ones are not mentioned",
                    position_.step + 1, result.lossScale.value_or(0)));
}

Status TrainLoop::checkFinite(const StepScalars &scalars, const StepResult &result, const StepBatch &batch) {
  if (result.updateApplied || result.overflow)
    return {};
  const std::string what =
      fmt::format("step {}: the loss is {}, the gradient's norm {}; the update was not applied",
                  scalars.step + 1, result.loss, result.gradNorm);
  if (options_.skipNonFinite) {
    parts_.observers.warnOnRank0(what);
    return {};
  }
  isNonFinite_ = true;
  TRAINC_ASSIGN_OR_RETURN(const std::string weights, cause_.inWeights(position_.step));
  hasBadWeights_ = !weights.empty();
  if (hasBadWeights_)
    return failed("{}. {}", what, weights);
  if (parts_.checkpoints) {
    if (const Status saved = parts_.checkpoints->save(position_); !saved.ok())
      warn(saved.message());
    parts_.checkpoints->waitUntilRead(); // the replay may write to the states
  }
  TRAINC_ASSIGN_OR_RETURN(const std::string cause, cause_.inStep(scalars, result, batch));
  return failed("{}. {}", what, cause);
}

/// Minimum loss at which targets are compared with masks. The cross-entropy of untrained models is below 20;
/// a finite mask, such as -1e9, leaves that of a target in a masked class finite.
static constexpr float kOddLoss = 100;

Status TrainLoop::checkMaskedTargets(const StepScalars &scalars, const StepResult &result,
                                     const StepBatch &batch) {
  if (warnedOfMaskedTarget_ || !result.updateApplied || !(result.loss > kOddLoss) ||
      !parts_.dataset.hasMasks())
    return {};
  TRAINC_ASSIGN_OR_RETURN(const std::string target, cause_.inMaskedTarget(batch));
  warnedOfMaskedTarget_ = !target.empty();
  if (warnedOfMaskedTarget_)
    warn(fmt::format("step {}: the loss is {}. {}; later steps like it are not mentioned", scalars.step + 1,
                     result.loss, target));
  return {};
}

void TrainLoop::report(const StepScalars &scalars, const StepResult &result, double seconds) {
  StepMetrics metrics;
  metrics.step = scalars.step + 1;
  metrics.loss = result.loss;
  metrics.lr = scalars.lr;
  metrics.gradNorm = result.gradNorm;
  metrics.tokens = samplesPerStep_ * tokensPerSample_;
  metrics.stepSeconds = seconds;
  metrics.tokensPerSecond = static_cast<double>(metrics.tokens) / seconds;
  metrics.peakBytes = parts_.executor.peakBytes();
  if (options_.peakFlops > 0)
    metrics.mfu = flopsPerStep() / seconds / options_.peakFlops;
  metrics.communication = result.communication;
  if (parts_.executor.plan().ranks() > 1)
    metrics.sentBytes = result.sentBytes;
  if (result.lossScale) {
    metrics.lossScale = result.lossScale;
    metrics.skippedSteps = position_.skippedSteps;
  }
  metrics.startSeconds = std::exchange(startSeconds_, std::nullopt);
  parts_.observers.tell(&RunObserver::onStep, metrics);
  if (warnedOfNoTargets_ || result.targets != 0)
    return;
  warnedOfNoTargets_ = true;
  parts_.observers.warnOnRank0(
      fmt::format("step {}: all targets of its {} samples are ignored, so nothing is learned from it; "
                  "later steps like it are not mentioned",
                  scalars.step + 1, samplesPerStep_));
}

Status TrainLoop::evaluate() {
  const double begin = steadySeconds();
  const Result<std::optional<EvalResult>> found = parts_.evaluator->run([this] { return wantsToStop(); });
  if (!found.ok())
    return Status(found.status().code(),
                  fmt::format("after step {}: {}", position_.step, found.status().message()));
  const std::optional<EvalResult> &result = *found;
  if (!result) {
    stopped_ = true;
    return {};
  }
  parts_.observers.tell(&RunObserver::onEvaluation,
                        metricsOf(*result, position_.step, steadySeconds() - begin));
  return {};
}

double TrainLoop::flopsPerStep() const {
  const fb::Plan &plan = parts_.executor.plan();
  double flops = 0;
  for (const fb::Entry *entry : *plan.entries())
    flops += static_cast<double>(runsPerStep(plan, *entry)) * static_cast<double>(entry->flops());
  return flops;
}

} // namespace trainc
