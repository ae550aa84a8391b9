#include "runtime/training/run.h"

#include "base/clock.h"
#include "base/plain_text.h"
#include "plan/facts/counts.h"
#include "plan/facts/settings.h"
#include "plan/settings/limits.h"
#include "plan/settings/settings.h"
#include "runtime/training/generate.h"
#include "runtime/training/run_data.h"
#include "runtime/training/starting_point.h"
#include "runtime/training/tokenizer_choice.h"
#include "runtime/training/train_loop.h"

#include <cmath>

namespace trainc {

namespace {

/// Default number of traced steps: enough to compare steps, and few enough for viewers to load the file.
constexpr uint64_t kTracedSteps = 10;

MeasureOptions measureOptions(const RunOptions &options) {
  return {.profile = !options.profile.empty(),
          .peakFlops = options.peakFlops.value_or(0),
          .trace = {.file = options.trace, .steps = options.traceSteps.value_or(kTracedSteps)}};
}

/// Peak FLOP/s for the MFU; 0 if unknown. The data sheets of devices give it only for 16-bit floats.
double peakFlops(const RunOptions &options, const Executor &executor) {
  const bool isHalf = train::kPrecision.of(PlanSettings(executor.plan())) != train::Precision::fp32;
  return options.peakFlops.value_or(isHalf ? executor.device().halfFlopsOnSheet() : 0);
}

Status checkTrains(const fb::Plan &plan, const RunOptions &options) {
  if (!plan.training())
    return invalidInput("{}: plan '{}' does not train; compile a model with an optimizer and a loss",
                        options.plan, plan.name()->str());
  if (const flatbuffers::String *reason = plan.no_training())
    return invalidInput("{}: plan '{}' trains nothing: {}; --eval-data without --data evaluates it",
                        options.plan, plan.name()->str(), reason->str());
  if (!options.steps && !options.epochs && plan.training()->steps() == 0)
    return invalidInput("how long to train? Give --steps or --epochs; plan '{}' does not say",
                        plan.name()->str());
  return {};
}

/// Steps of the whole training. Epochs of samples that fill no last step get one that begins a next epoch.
Result<uint64_t> totalSteps(const fb::Plan &plan, const RunOptions &options, uint64_t samples) {
  if (!options.epochs)
    return options.steps.value_or(plan.training()->steps());
  const double steps =
      std::ceil(*options.epochs * static_cast<double>(samples) / static_cast<double>(samplesPerStep(plan)));
  if (steps > static_cast<double>(train::kMaxSteps))
    return invalidInput("--epochs={:g}: {} samples are {:.0f} steps, which exceeds {}", *options.epochs,
                        samples, steps, train::kMaxSteps);
  return static_cast<uint64_t>(steps);
}

} // namespace

/// Data of a run. The members refer to each other, so the object must not move.
struct TrainingRun::Inputs {
  /// Evaluation data and evaluator; the members refer to each other, so the object must not move.
  struct Evaluation {
    std::optional<Dataset> dataset;
    std::optional<Evaluator> evaluator;

    Status open(Executor &executor, const RunOptions &options) {
      if (options.evalData.empty())
        return {};
      TRAINC_ASSIGN_OR_RETURN(dataset, openData(executor, options, DataUse::kEvaluation));
      TRAINC_ASSIGN_OR_RETURN(Evaluator created, Evaluator::create(executor, *dataset));
      evaluator.emplace(std::move(created));
      return {};
    }
  };

  uint64_t steps = 0; ///< total steps of the training, including those before --resume
  std::optional<Dataset> data;
  Evaluation evaluation;

  Status open(Executor &executor, const RunOptions &options) {
    if (options.trains()) {
      TRAINC_RETURN_IF_ERROR(checkTrains(executor.plan(), options));
      TRAINC_ASSIGN_OR_RETURN(data, openData(executor, options, DataUse::kTraining));
      TRAINC_ASSIGN_OR_RETURN(steps, totalSteps(executor.plan(), options, data->samples()));
    }
    return evaluation.open(executor, options);
  }
};

namespace {

Result<NamedValue> identityOf(const Dataset &evalData) {
  TRAINC_ASSIGN_OR_RETURN(const std::vector<FileIdentity> files, evalData.identity());
  return identityOf("--eval-data", evalData, files);
}

Status checkSameData(ControlChannel &control, uint64_t steps, NamedValue data,
                     const std::optional<Dataset> &evalData) {
  std::vector<NamedValue> values = {{"--steps", fmt::format("{}", steps)}, std::move(data)};
  if (evalData) {
    TRAINC_ASSIGN_OR_RETURN(values.emplace_back(), identityOf(*evalData));
  }
  return checkSame(control, values);
}

} // namespace

Result<std::unique_ptr<TrainingRun>> TrainingRun::create(const PlanFile &file, Device &device,
                                                         RunOptions options, RunContext context) {
  Result<std::unique_ptr<Executor>> executor = Executor::create(file.plan(), device,
                                                                {.measure = measureOptions(options),
                                                                 .communicator = context.communicator,
                                                                 .planChecksum = file.checksum()});
  if (!executor.ok()) {
    const Status &status = executor.status();
    const bool isOfOption = status.message().starts_with("--"); // such as --trace
    return isOfOption ? status : Status(status.code(), fmt::format("{}: {}", options.plan, status.message()));
  }
  return std::unique_ptr<TrainingRun>(
      new TrainingRun(std::move(*executor), std::move(options), std::move(context)));
}

Status TrainingRun::run() {
  const Status status = work();
  if (!status.ok())
    observers_.tell(&RunObserver::onFailure, status);
  return status;
}

Status TrainingRun::work() {
  std::optional<Communicator::LocalWait> preparation(std::in_place, context_.communicator);
  Inputs inputs;
  TRAINC_RETURN_IF_ERROR(inputs.open(*executor_, options_)); // before weights, which take longer
  TRAINC_ASSIGN_OR_RETURN(start_, prepareWeights(*executor_, context_.threads, options_, observers_));
  TRAINC_RETURN_IF_ERROR(checkSameRun(executor_->control(), options_, start_));
  start_.position.plan = executor_->plan().name()->str();
  std::optional<TextGeneration> generation;
  if (options_.generates()) {
    TRAINC_ASSIGN_OR_RETURN(TextGeneration opened,
                            TextGeneration::open(*executor_, options_, start_.position));
    generation.emplace(std::move(opened));
  }
  preparation.reset();
  if (options_.trains())
    TRAINC_RETURN_IF_ERROR(train(inputs));
  else if (inputs.evaluation.dataset)
    TRAINC_RETURN_IF_ERROR(evaluate(inputs));
  if (!generation || stopped_)
    return {};
  return generation->run(options_, options_.seed.value_or(start_.position.seed), observers_, context_.stop);
}

Status TrainingRun::train(Inputs &inputs) {
  std::optional<Communicator::LocalWait> preparation(std::in_place, context_.communicator);
  const fb::Plan &plan = executor_->plan();
  const uint64_t steps = inputs.steps;
  const Dataset &dataset = *inputs.data;
  Inputs::Evaluation &evaluation = inputs.evaluation;
  TRAINC_ASSIGN_OR_RETURN(std::vector<FileIdentity> files, dataset.identity());
  TRAINC_RETURN_IF_ERROR(
      checkSameData(executor_->control(), steps, identityOf("--data", dataset, files), evaluation.dataset));
  TRAINC_RETURN_IF_ERROR(recordData(dataset, std::move(files)));
  TRAINC_RETURN_IF_ERROR(recordTokenizerOfData());
  TRAINC_ASSIGN_OR_RETURN(const std::unique_ptr<Checkpoints> checkpoints,
                          Checkpoints::open(*executor_, options_, start_, observers_));
  TRAINC_RETURN_IF_ERROR(begin({.trains = true,
                                .resumed = start_.resumed(),
                                .step = start_.position.step,
                                .lastStep = steps,
                                .unit = plan.training()->seq_len() ? "tok" : "samples"}));
  announce(dataset, steps);
  if (options_.checkpointDir.empty())
    note("without --checkpoint-dir what is trained is not kept");
  if (evaluation.dataset)
    warnOfFiles(*evaluation.dataset);
  TrainLoop loop({.executor = *executor_,
                  .dataset = dataset,
                  .observers = observers_,
                  .checkpoints = checkpoints.get(),
                  .evaluator = evaluation.evaluator ? &*evaluation.evaluator : nullptr,
                  .stopRequested = [this] { return context_.stop.requested(); },
                  .secondsSinceStart = context_.secondsSinceStart},
                 {.steps = steps,
                  .evalEvery = options_.evalEvery.value_or(0),
                  .checkpointEvery = options_.checkpointEvery.value_or(0),
                  .skipNonFinite = options_.onNonFinite == "skip",
                  .peakFlops = peakFlops(options_, *executor_)},
                 start_.position);
  preparation.reset();
  const Status status = loop.run();
  start_.position = loop.position();
  stopped_ = loop.stopped();
  if (!status.ok() || !stopped_)
    return status;
  const uint64_t step = start_.position.step;
  if (options_.checkpointDir.empty())
    return failed("stopped by {} after step {}; without --checkpoint-dir the progress is lost",
                  context_.stop.by(), step);
  // The exit code is 0, so with -q only this warning distinguishes the run from a finished one.
  observers_.warnOnRank0(fmt::format("stopped by {} after step {} of {}; add --resume to go on",
                                     context_.stop.by(), step, steps));
  return {};
}

/// Records the data for later checkpoints. A resumed run must have the data that its checkpoint records.
Status TrainingRun::recordData(const Dataset &dataset, std::vector<FileIdentity> files) {
  TrainerState &position = start_.position;
  const Status same = start_.resumed() ? checkDataOfCheckpoint(dataset, files, position) : Status();
  if (!same.ok() && !options_.allowChanges)
    return same;
  if (!same.ok())
    observers_.warnOnRank0(
        "the checkpoint was trained on other data: the order of the samples from now on is that of the new "
        "data");
  else if (start_.resumed()) // a checksum of the content that only the checkpoint knows is kept
    for (size_t i = 0; i < position.data.size(); ++i)
      if (!files[i].content)
        files[i].content = position.data[i].content;
  position.dataSamples = dataset.samples();
  position.data = std::move(files);
  return {};
}

void TrainingRun::warnOfFiles(const Dataset &dataset) const {
  for (const DataFile &file : dataset.files())
    if (!file.warning().empty()) {
      observers_.warnOnRank0(file.warning());
      break;
    }
  if (const std::string doubt = dataset.doubtOfLabels(); !doubt.empty())
    observers_.warnOnRank0(doubt);
}

void TrainingRun::announce(const Dataset &dataset, uint64_t steps) const {
  const TrainerState &position = start_.position;
  std::string left;
  if (position.step < steps) {
    left = fmt::format("; steps {} to {}", position.step + 1, steps);
    if (options_.epochs)
      left += fmt::format(" ({:g} epochs)", *options_.epochs);
    if (executor_->plan().ranks() > 1)
      left += fmt::format(" of {} samples", samplesPerStep(executor_->plan()));
  }
  note(fmt::format("data: {} samples in {} file{}{}", dataset.samples(), dataset.files().size(),
                   dataset.files().size() == 1 ? "" : "s", left));
  if (const uint64_t perStep = samplesPerStep(executor_->plan());
      position.step < steps && dataset.samples() < perStep)
    observers_.warnOnRank0(fmt::format(
        "a step takes {} samples, the data has {}: samples repeat within each step; give more data, or "
        "compile for a smaller batch",
        perStep, dataset.samples()));
  warnOfFiles(dataset);
}

Status TrainingRun::recordTokenizerOfData() {
  TRAINC_ASSIGN_OR_RETURN(const std::optional<DataTokenizer> ofData, tokenizerOfData(options_));
  if (!ofData)
    return {};
  if (start_.tokenizer && start_.tokenizer->xxh3 != ofData->record.xxh3) {
    const std::string difference = fmt::format(
        "the checkpoint was trained on tokens of the tokenizer '{}', this data was made with '{}'",
        printable(start_.tokenizer->name), printable(ofData->record.name));
    if (start_.resumed() && !options_.allowChanges)
      return invalidInput("{}: {}; give data of that tokenizer, {}", ofData->option, difference, kHowToAllow);
    observers_.warnOnRank0(difference);
  }
  recordTokenizer(ofData->record, start_.position);
  return {};
}

Status TrainingRun::evaluate(Inputs &inputs) {
  std::optional<Communicator::LocalWait> preparation(std::in_place, context_.communicator);
  Inputs::Evaluation &evaluation = inputs.evaluation;
  TRAINC_ASSIGN_OR_RETURN(const NamedValue data, identityOf(*evaluation.dataset));
  TRAINC_RETURN_IF_ERROR(recordTokenizerOfData());
  preparation.reset();
  TRAINC_RETURN_IF_ERROR(checkSame(executor_->control(), std::span(&data, 1)));
  const uint64_t step = start_.position.step;
  TRAINC_RETURN_IF_ERROR(begin({.resumed = start_.resumed(), .step = step}));
  warnOfFiles(*evaluation.dataset);
  const double start = steadySeconds();
  Result<std::optional<EvalResult>> found =
      evaluation.evaluator->run([this] { return context_.stop.requested(); });
  if (found.ok() && *found)
    observers_.tell(&RunObserver::onEvaluation, metricsOf(**found, step, steadySeconds() - start));
  observers_.tell(&RunObserver::onEnd);
  TRAINC_RETURN_IF_ERROR(found.status());
  if (!*found)
    return failed("stopped by {} before the evaluation was done", context_.stop.by());
  return {};
}

Status TrainingRun::begin(const RunBegin &begin) const {
  TRAINC_RETURN_IF_ERROR(observers_.tell(&RunObserver::onBegin, begin));
  if (context_.stop.listen)
    context_.stop.listen();
  return {};
}

} // namespace trainc
