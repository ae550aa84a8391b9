#include "tools/trainrun/session.h"

#include "runtime/base/print.h"
#include "runtime/base/stop_signal.h"
#include "runtime/log/process_clock.h"
#include "runtime/plan/file.h"
#include "runtime/training/same_run.h"
#include "runtime/training/text_generation.h"
#include "runtime/training/train_loop.h"
#include "runtime/training/training.h"
#include "runtime/training/weights.h"
#include "tools/trainrun/describe.h"
#include "tools/trainrun/machine.h"

namespace trainc {

namespace {

Status describeData(const Executor &executor, const std::vector<std::string> &files, DataUse use,
                    const Options &options) {
  if (files.empty())
    return {};
  TRAINC_ASSIGN_OR_RETURN(const Dataset dataset, openData(executor, files, use, options));
  return printOutput(fmt::format("{} data: {} samples in {} file{}\n",
                                 use == DataUse::kTraining ? "training" : "evaluation", dataset.samples(),
                                 dataset.files().size(), dataset.files().size() == 1 ? "" : "s"));
}

/// Errors name the plan's file.
Result<std::unique_ptr<Executor>> prepare(const PlanFile &file, Device &device, const Options &options,
                                          const Rank &rank) {
  Result<std::unique_ptr<Executor>> executor = Executor::create(
      file.plan(), device,
      {.profile = options.profile, .communicator = rank.communicator.get(), .planChecksum = file.checksum()});
  if (executor.ok())
    return executor;
  return Status(executor.status().code(), fmt::format("{}: {}", options.plan, executor.status().message()));
}

Status dryRun(const Executor &executor, const Options &options) {
  TRAINC_RETURN_IF_ERROR(printOutput(details(executor)));
  TRAINC_RETURN_IF_ERROR(describeData(executor, options.data, DataUse::kTraining, options));
  return describeData(executor, options.evalData, DataUse::kEvaluation, options);
}

Status evaluateOnly(Executor &executor, const Options &options, const Rank &rank, const StartingPoint &start,
                    Log &log) {
  std::optional<Communicator::OwnTime> preparation(std::in_place, rank.communicator.get());
  TRAINC_ASSIGN_OR_RETURN(const Dataset dataset,
                          openData(executor, options.evalData, DataUse::kEvaluation, options));
  TRAINC_ASSIGN_OR_RETURN(Evaluator evaluator, Evaluator::create(executor, dataset));
  TRAINC_ASSIGN_OR_RETURN(const NamedValue data, identityOf("--eval-data", dataset));
  preparation.reset();
  TRAINC_RETURN_IF_ERROR(checkSame(executor.peers(), std::span(&data, 1)));
  const double begin = secondsSinceProcessStart();
  catchStopSignals(rank.secondSignal());
  TRAINC_ASSIGN_OR_RETURN(const std::optional<EvalResult> found,
                          evaluator.run([] { return stopSignal() != nullptr; }));
  const Communicator::OwnTime report(rank.communicator.get());
  if (!found)
    return failed("stopped by {} before the evaluation was done", stopReason());
  const EvalResult &result = *found;
  const double seconds = secondsSinceProcessStart() - begin;
  log.info("{}", describe(result, seconds, 6));
  TRAINC_ASSIGN_OR_RETURN(std::optional<MetricsWriter> metrics, openMetrics(options, rank, start));
  if (!metrics)
    return {};
  return metrics->write(
      EvalMetrics{start.position.step, result.loss, result.perplexity, result.samples, seconds});
}

Status work(Executor &executor, const Machine &machine, const Options &options, const Rank &rank, Log &log) {
  std::optional<Communicator::OwnTime> preparation(std::in_place, rank.communicator.get());
  TRAINC_ASSIGN_OR_RETURN(StartingPoint start, prepareWeights(executor, machine.threads(), options, log));
  TRAINC_RETURN_IF_ERROR(checkSameRun(executor.peers(), options, start));
  start.position.plan = executor.plan().name()->str();
  std::optional<TextGeneration> generation;
  if (options.generate) {
    TRAINC_ASSIGN_OR_RETURN(TextGeneration opened, TextGeneration::open(executor, options, start.position));
    generation.emplace(std::move(opened));
  }
  preparation.reset();
  bool stopped = false;
  if (options.trains()) {
    TRAINC_ASSIGN_OR_RETURN(stopped, trainModel(executor, options, rank, start, log));
  } else if (!options.evalData.empty()) {
    TRAINC_RETURN_IF_ERROR(evaluateOnly(executor, options, rank, start, log));
  }
  if (!generation || stopped)
    return {};
  return generation->run(options, rank, options.seed.value_or(start.position.seed));
}

} // namespace

Status runSession(const PlanFile &file, const Options &options, const Rank &rank, Log &log) {
  Machine machine = Machine::open(options.device, options.threads.value_or(defaultThreads(rank)));
  TRAINC_ASSIGN_OR_RETURN(const std::unique_ptr<Executor> executor,
                          prepare(file, machine.device(), options, rank));
  if (options.device == "null")
    return dryRun(*executor, options);
  std::optional<Communicator::OwnTime> talk(std::in_place, rank.communicator.get());
  log.info("{}", summary(*executor));
  log.info("{}", machine.device().description());
  if (options.threads && machine.threads() < *options.threads)
    log.warning("the system starts {} of the {} threads asked for; results are the same", machine.threads(),
                *options.threads);
  talk.reset();
  const Status status = work(*executor, machine, options, rank, log);
  talk.emplace(rank.communicator.get());
  if (options.profile)
    log.info("{}", profileTable(*executor));
  return status;
}

} // namespace trainc
