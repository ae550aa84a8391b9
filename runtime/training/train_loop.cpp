#include "runtime/training/train_loop.h"

#include "base/clock.h"
#include "plan/facts/counts.h"
#include "plan/facts/settings.h"
#include "plan/facts/view.h"
#include "runtime/training/learning_rate.h"
#include "runtime/training/state_tensors.h"
#include "runtime/training/step_runner.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace trainc {

TrainLoop::TrainLoop(TrainParts parts, TrainOptions options, TrainerState start)
    : parts_(std::move(parts)), options_(options), position_(std::move(start)),
      runner_(parts_.executor, parts_.dataset), samplesPerStep_(samplesPerStep(parts_.executor.plan())),
      tokensPerSample_(std::max<uint64_t>(1, parts_.executor.plan().training()->seq_len())) {}

Status TrainLoop::run() {
  Status status = runSteps();
  if (status.ok())
    status = settle();
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
Status TrainLoop::settle() {
  const Status settled = parts_.executor.settle();
  return settled.ok()
             ? settled
             : Status(settled.code(), fmt::format("after step {}: {}", position_.step, settled.message()));
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
    note(fmt::format("nothing is left to train: step {} is done, and the training ends with step {}; give "
                     "--steps a number above {} to go on",
                     position_.step, options_.steps, position_.step));
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
  position_.step += 1;
  position_.samples += samplesPerStep_;
  position_.tokens += samplesPerStep_ * tokensPerSample_;
  return {};
}

uint64_t TrainLoop::scheduleStep() const {
  const bool skippedAdvance = parts_.executor.plan().training()->schedule()->skipped_advance();
  return position_.step - (skippedAdvance ? 0 : position_.skippedSteps);
}

void TrainLoop::beginCourse() {
  const LearningRateCourse course = courseOf(*parts_.executor.plan().training()->schedule(), options_.steps);
  const std::optional<LearningRateCourse> before = std::exchange(position_.learningRate, course);
  if (before && *before != course && scheduleStep() > 0)
    warn(describeChange(*before, course, scheduleStep()));
  if (course.warmup > options_.steps)
    warn(fmt::format("--steps={}: the run ends within the schedule's warmup of {} steps, before the learning "
                     "rate reaches {:g}",
                     options_.steps, course.warmup, course.peak));
}

void TrainLoop::skip(const StepResult &result) {
  if (position_.skippedSteps++ == 0)
    note(
        fmt::format("step {}: gradients overflow at the loss scale {}; such steps are skipped, and the scale "
                    "shrinks; later ones are not mentioned",
                    position_.step + 1, result.lossScale.value_or(0)));
}

/// Ends of messages about steps that are not finite.
static constexpr const char *kSkip = "; --on-nonfinite=skip goes on without such steps";
static constexpr const char *kRepair =
    ". Repair that sample, or leave it out; --on-nonfinite=skip goes on without such steps";

/// f16 overflows above 65504, where other types do not.
static std::string adviceOnNonFinite(const fb::Plan &plan, const StepResult &result) {
  std::string advice;
  if (result.loss == HUGE_VALF &&
      std::isfinite(result.gradNorm)) // rates that are too high usually break both
    advice = "As the gradient is finite, a target may be in a class that the model excludes with -inf. ";
  advice += "Lower the learning rate or look at the data of this step";
  if (settingOf(plan, "precision") == "fp16")
    advice += "; numbers in f16 overflow early, so a lower --loss-scale or --precision=bf16 may help";
  if (settingOf(plan, "reduce_type") == "f16")
    advice += "; gradients are sent in f16, so --reduce-type=bf16 may help";
  return advice;
}

Status TrainLoop::checkFinite(const StepScalars &scalars, const StepResult &result, const StepBatch &batch) {
  if (result.updateApplied || result.overflow)
    return {};
  const std::string what =
      fmt::format("step {}: the loss is {}, the gradient's norm {}; the update was not applied",
                  scalars.step + 1, result.loss, result.gradNorm);
  if (options_.skipNonFinite) {
    warn(what);
    return {};
  }
  isNonFinite_ = true;
  TRAINC_ASSIGN_OR_RETURN(const std::string weights, describeBadWeights());
  hasBadWeights_ = !weights.empty();
  if (hasBadWeights_)
    return failed("{}. {}", what, weights);
  if (parts_.checkpoints) {
    if (const Status saved = parts_.checkpoints->save(position_); !saved.ok())
      warn(saved.message());
    parts_.checkpoints->waitUntilRead(); // the replay may write to the states
  }
  TRAINC_ASSIGN_OR_RETURN(const std::string target, describeMaskedTarget(batch));
  if (!target.empty())
    return failed("{}. {}{}", what, target, kRepair);
  TRAINC_ASSIGN_OR_RETURN(const std::optional<NonFinite> culprit, runner_.replay(scalars, batch));
  TRAINC_ASSIGN_OR_RETURN(const std::string data, describeBadData(batch));
  const std::string replayed =
      culprit ? culprit->message()
              : "every value is finite; suspect the memory or the processor of this machine";
  return failed("{}. Replayed: {}\n{}{}", what, replayed,
                data.empty() ? adviceOnNonFinite(parts_.executor.plan(), result) : data,
                data.empty() ? kSkip : kRepair);
}

Result<std::string> TrainLoop::agreeOnText(const std::optional<std::string> &own, std::string_view owner,
                                           std::string_view held) {
  TRAINC_ASSIGN_OR_RETURN(const std::span<const uint32_t> found,
                          parts_.executor.control().gather(uint32_t{own.has_value()}));
  if (own)
    return *own;
  const auto first = std::ranges::find(found, 1U);
  return first == found.end() ? ""
                              : fmt::format("{} of rank {} holds {}", owner, first - found.begin(), held);
}

/// A run begins with finite weights unless an initialiser makes others: those of files are checked. Later,
/// the update of the step before is to blame, whose gradients were finite.
Result<std::string> TrainLoop::describeBadWeights() {
  TRAINC_ASSIGN_OR_RETURN(const std::optional<std::string> own, findNonFiniteParameter(parts_.executor));
  TRAINC_ASSIGN_OR_RETURN(const std::string found, agreeOnText(own, "a parameter", "such a value"));
  if (found.empty())
    return found;
  if (position_.step == 0)
    return fmt::format("The step began so: {}; look at its initialiser in the model", found);
  return fmt::format(
      "The step began so: {}, from the update of step {}. Lower the learning rate, and begin with "
      "weights from before that step",
      found, position_.step);
}

Result<std::string> TrainLoop::describeMaskedTarget(const StepBatch &batch) {
  return agreeOnText(
      parts_.dataset.findMaskedClass(batch.samples(), [&](size_t column) { return batch.step(column); }),
      "The data", "a target in a masked class");
}

Result<std::string> TrainLoop::describeBadData(const StepBatch &batch) {
  std::optional<std::string> own;
  for (size_t column = 0; column < parts_.dataset.columns().size() && !own; ++column)
    own = parts_.dataset.findNonFinite(column, batch.samples(), batch.step(column));
  return agreeOnText(own, "The data", "such a value");
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
  warn(fmt::format("step {}: all targets of its {} samples are ignored, so nothing is learned from it; "
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
  const Executor &executor = parts_.executor;
  double flops = 0;
  for (const fb::Entry *entry : *executor.plan().entries())
    flops += static_cast<double>(StepRunner::runs(executor, view(entry->name()))) *
             static_cast<double>(entry->flops());
  return flops;
}

} // namespace trainc
