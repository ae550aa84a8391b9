#include "tools/trainrun/session.h"

#include "runtime/base/print.h"
#include "runtime/base/stop_signal.h"
#include "runtime/log/process_clock.h"
#include "runtime/schema/plain_text.h"
#include "runtime/training/observers.h"
#include "runtime/training/run.h"
#include "runtime/training/run_data.h"
#include "tools/trainrun/describe.h"
#include "tools/trainrun/machine.h"

namespace trainc {

namespace {

/// Generated text goes to standard output.
class TextPrinter : public RunObserver {
public:
  Status onText(std::string_view text) override { return printOutput(text); }
};

Status describeData(const Executor &executor, DataUse use, const Options &options) {
  const bool training = use == DataUse::kTraining;
  if ((training ? options.data : options.evalData).empty())
    return {};
  TRAINC_ASSIGN_OR_RETURN(const Dataset dataset, openData(executor, options, use));
  return printOutput(fmt::format("{} data: {} samples in {} file{}\n", training ? "training" : "evaluation",
                                 dataset.samples(), dataset.files().size(),
                                 dataset.files().size() == 1 ? "" : "s"));
}

Status dryRun(const Executor &executor, const Options &options) {
  TRAINC_RETURN_IF_ERROR(printOutput(printable(details(executor), "\n")));
  TRAINC_RETURN_IF_ERROR(describeData(executor, DataUse::kTraining, options));
  return describeData(executor, DataUse::kEvaluation, options);
}

void announce(TrainingRun &run, const Machine &machine, const Options &options, Log &log) {
  log.info("{}", summary(run.executor()));
  log.info("{}", run.executor().device().description());
  if (options.threads && machine.threads() < *options.threads)
    log.warning("the system starts {} of the {} threads asked for; results are the same", machine.threads(),
                *options.threads);
}

StopRequests stopBySignal(const Rank &rank) {
  return {.listen = [&rank] { catchStopSignals(rank.secondSignal()); }, .reason = stopSignal};
}

} // namespace

Status runSession(const PlanFile &file, const Options &options, const Rank &rank, Log &log) {
  Machine machine = Machine::open(options.device, options.threads.value_or(defaultThreads(rank)));
  ConsoleObserver console(log);
  MetricsObserver metrics(options.metrics, log);
  TextPrinter text;
  RunContext context{.observers = {&console},
                     .communicator = rank.communicator.get(),
                     .threads = machine.threads(),
                     .stop = stopBySignal(rank),
                     .secondsSinceStart = [&] { return rank.secondsBefore + secondsSinceProcessStart(); }};
  if (rank.writes() && !options.metrics.empty())
    context.observers.push_back(&metrics);
  if (rank.writes())
    context.observers.push_back(&text);

  TRAINC_ASSIGN_OR_RETURN(const std::unique_ptr<TrainingRun> run,
                          TrainingRun::create(file, machine.device(), options, std::move(context)));
  if (options.device == "null")
    return dryRun(run->executor(), options);
  std::optional<Communicator::OwnTime> talk(std::in_place, rank.communicator.get());
  announce(*run, machine, options, log);
  talk.reset();
  const Status status = run->run();
  talk.emplace(rank.communicator.get());
  if (options.profile)
    log.info("{}", profileTable(run->executor()));
  return status;
}

} // namespace trainc
