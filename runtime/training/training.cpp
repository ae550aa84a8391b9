#include "runtime/training/training.h"

#include "runtime/base/stop_signal.h"
#include "runtime/data/token_file.h"
#include "runtime/log/process_clock.h"
#include "runtime/log/units.h"
#include "runtime/training/same_run.h"
#include "runtime/training/state_tensors.h"
#include "runtime/training/tokenizer_choice.h"
#include "runtime/training/train_loop.h"

namespace trainc {

namespace {

Result<uint64_t> totalSteps(const fb::Plan &plan, const RunOptions &options) {
  if (!plan.training())
    return invalidInput("{}: plan '{}' does not train; compile a model with an optimizer and a loss",
                        options.plan, plan.name()->str());
  const uint64_t steps = options.steps.value_or(plan.training()->steps());
  if (steps == 0 && !options.steps)
    return invalidInput("how long to train? Give --steps; plan '{}' does not say", plan.name()->str());
  return steps;
}

Result<CheckpointContents> checkpointContents(const Executor &executor) {
  CheckpointContents contents;
  contents.parameters = stateTensors(executor, fb::Role::Parameter);
  contents.optimizer = stateTensors(executor, fb::Role::Optimizer);
  if (!executor.plan().exports())
    return contents;
  for (const fb::Export *file : *executor.plan().exports()) {
    const std::string name = file->file()->str();
    if (name == kModelFile || name == kOptimizerFile || name == kTrainerStateFile)
      return invalidInput("plan '{}' exports a file '{}', which checkpoints write themselves",
                          executor.plan().name()->str(), name);
    contents.exports.emplace_back(name, file->text()->str());
  }
  return contents;
}

/// Rank 0 opens the folder and holds its lock.
Result<CheckpointFolder> openFolder(const RunOptions &options, const Rank &rank, const StartingPoint &start) {
  if (rank.index != 0)
    return CheckpointFolder::ofOtherRank(options.checkpointDir);
  TRAINC_ASSIGN_OR_RETURN(CheckpointFolder folder, CheckpointFolder::open(options.checkpointDir));
  TRAINC_RETURN_IF_ERROR(folder.beginRun(start.checkpoint));
  return folder;
}

CheckpointPeers checkpointPeers(Executor &executor, const Rank &rank) {
  if (!rank.communicator)
    return {};
  const auto gather = [&executor](uint8_t own) -> Result<std::vector<uint8_t>> {
    TRAINC_ASSIGN_OR_RETURN(const std::span<const uint8_t> all, executor.peers().gather(own));
    return std::vector<uint8_t>(all.begin(), all.end());
  };
  return {.gather = gather};
}

Result<std::optional<CheckpointWriter>> openCheckpoints(Executor &executor, const RunOptions &options,
                                                        const Rank &rank, const StartingPoint &start) {
  if (options.checkpointDir.empty())
    return std::optional<CheckpointWriter>();
  TRAINC_ASSIGN_OR_RETURN(CheckpointFolder folder, openFolder(options, rank, start));
  TRAINC_ASSIGN_OR_RETURN(CheckpointContents contents, checkpointContents(executor));
  const WriterPlace place{
      .rank = rank.index, .ranks = executor.plan().ranks(), .shardRanks = executor.plan().shard_ranks()};
  return std::optional<CheckpointWriter>(std::in_place, std::move(folder), std::move(contents),
                                         options.keepLast.value_or(0), place,
                                         checkpointPeers(executor, rank));
}

/// Evaluation data and what runs it; members refer to each other, so it stays where it is.
struct Evaluation {
  std::optional<Dataset> dataset;
  std::optional<Evaluator> evaluator;

  Status open(Executor &executor, const RunOptions &options) {
    if (options.evalData.empty())
      return {};
    TRAINC_ASSIGN_OR_RETURN(dataset, openData(executor, options.evalData, DataUse::kEvaluation, options));
    TRAINC_ASSIGN_OR_RETURN(Evaluator created, Evaluator::create(executor, *dataset));
    evaluator.emplace(std::move(created));
    return {};
  }
};

Status checkSameData(Peers &peers, uint64_t steps, const Dataset &dataset, const Evaluation &evaluation) {
  TRAINC_ASSIGN_OR_RETURN(const NamedValue data, identityOf("--data", dataset));
  std::vector<NamedValue> values = {{"--steps", fmt::format("{}", steps)}, data};
  if (evaluation.dataset) {
    TRAINC_ASSIGN_OR_RETURN(values.emplace_back(), identityOf("--eval-data", *evaluation.dataset));
  }
  return checkSame(peers, values);
}

/// Fills in what checkpoints record and says what will be trained on.
void announce(const fb::Plan &plan, const Dataset &dataset, uint64_t steps, StartingPoint &start, Log &log) {
  if (start.resumed() && start.position.dataSamples != dataset.samples())
    log.warning("the checkpoint was trained on data of {} samples, this one has {}: the order of the samples "
                "from now "
                "on is that of the new data",
                start.position.dataSamples, dataset.samples());
  start.position.dataSamples = dataset.samples();
  std::string left;
  if (start.position.step < steps) {
    left = fmt::format("; steps {} to {}", start.position.step + 1, steps);
    if (plan.ranks() > 1)
      left += fmt::format(" of {} samples", samplesPerStep(plan));
  }
  log.info("data: {} samples in {} file{}{}", dataset.samples(), dataset.files().size(),
           dataset.files().size() == 1 ? "" : "s", left);
}

void warnOfOtherTokenizer(const TokenizerRecord &tokenizer, const TrainerState &position, Log &log) {
  const std::optional<TokenizerRecord> before = recordedTokenizer(position);
  if (before && before->xxh3 != tokenizer.xxh3)
    log.warning("the checkpoint was trained on tokens of the tokenizer '{}', this data was made with '{}'",
                before->name, tokenizer.name);
}

Status afterStop(const RunOptions &options, const TrainerState &position, Log &log) {
  if (options.checkpointDir.empty())
    return failed("stopped by {} after step {}; without --checkpoint-dir the progress is lost", stopReason(),
                  position.step);
  log.info("stopped by {} after step {}; add --resume to go on", stopReason(), position.step);
  return {};
}

} // namespace

Result<std::optional<MetricsWriter>> openMetrics(const RunOptions &options, const Rank &rank,
                                                 const StartingPoint &start) {
  if (options.metrics.empty() || !rank.writes())
    return std::optional<MetricsWriter>();
  TRAINC_ASSIGN_OR_RETURN(MetricsWriter writer,
                          MetricsWriter::open(options.metrics, start.resumed()
                                                                   ? std::optional(start.position.step)
                                                                   : std::nullopt));
  return std::optional<MetricsWriter>(std::move(writer));
}

Result<Dataset> openData(const Executor &executor, const std::vector<std::string> &files, DataUse use,
                         const RunOptions &options) {
  std::optional<SafetensorsDType> dtype;
  if (!options.dataDType.empty()) {
    TRAINC_ASSIGN_OR_RETURN(dtype, parseTokenDType(options.dataDType));
  }
  std::vector<ColumnSpec> columns =
      use == DataUse::kTraining ? entryColumns(executor, kStepEntries) : entryColumns(executor, {"eval"});
  return Dataset::open(files, std::move(columns), dtype);
}

Result<bool> trainModel(Executor &executor, const RunOptions &options, const Rank &rank, StartingPoint &start,
                        Log &log) {
  std::optional<Communicator::OwnTime> preparation(std::in_place, rank.communicator.get());
  TRAINC_ASSIGN_OR_RETURN(const uint64_t steps, totalSteps(executor.plan(), options));
  TRAINC_ASSIGN_OR_RETURN(const Dataset dataset,
                          openData(executor, options.data, DataUse::kTraining, options));
  Evaluation evaluation;
  TRAINC_RETURN_IF_ERROR(evaluation.open(executor, options));
  TRAINC_RETURN_IF_ERROR(checkSameData(executor.peers(), steps, dataset, evaluation));
  TRAINC_ASSIGN_OR_RETURN(std::optional<CheckpointWriter> checkpoints,
                          openCheckpoints(executor, options, rank, start));
  TRAINC_ASSIGN_OR_RETURN(std::optional<MetricsWriter> metrics, openMetrics(options, rank, start));

  announce(executor.plan(), dataset, steps, start, log);
  TRAINC_ASSIGN_OR_RETURN(const std::optional<TokenizerRecord> tokenizer, tokenizerOfData(options));
  if (tokenizer) {
    warnOfOtherTokenizer(*tokenizer, start.position, log);
    recordTokenizer(*tokenizer, start.position);
  }

  TrainLoop loop({.executor = executor,
                  .dataset = dataset,
                  .log = log,
                  .metrics = metrics ? &*metrics : nullptr,
                  .checkpoints = checkpoints ? &*checkpoints : nullptr,
                  .evaluator = evaluation.evaluator ? &*evaluation.evaluator : nullptr,
                  .stopRequested = [] { return stopSignal() != nullptr; },
                  .secondsSinceStart = [&] { return rank.secondsBefore + secondsSinceProcessStart(); }},
                 {.steps = steps,
                  .evalEvery = options.evalEvery.value_or(0),
                  .checkpointEvery = options.checkpointEvery.value_or(0),
                  .skipNonFinite = options.onNonFinite == "skip",
                  .peakFlops = options.peakFlops.value_or(0)},
                 start.position);
  catchStopSignals(rank.secondSignal());
  preparation.reset();
  TRAINC_RETURN_IF_ERROR(loop.run());
  const Communicator::OwnTime farewell(rank.communicator.get());
  start.position = loop.position();
  if (loop.stopped())
    TRAINC_RETURN_IF_ERROR(afterStop(options, start.position, log));
  return loop.stopped();
}

} // namespace trainc
