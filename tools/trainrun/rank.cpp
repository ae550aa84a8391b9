#include "tools/trainrun/rank.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/lack_of_memory.h"
#include "base/print.h"
#include "base/thread.h"
#include "plan/facts/target.h"
#include "plan/facts/view.h"
#include "runtime/device/cpu/cpu_share.h"
#include "runtime/device/device_kinds.h"
#include "runtime/training/run.h"
#include "runtime/training/run_data.h"
#include "tools/trainrun/block_memory.h"
#include "tools/trainrun/describe.h"
#include "tools/trainrun/gpu_memory.h"
#include "tools/trainrun/offload_folder.h"
#include "tools/trainrun/profile_report.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <sys/mman.h>
#include <utility>

namespace trainc {

namespace {

/// Opens the requested device.
Result<OpenedDevice> openDevice(const fb::Plan &plan, const Options &options, const Rank &rank) {
  DevicePlace place{.rank = rank.place(),
                    .seed = options.deviceSeed.value_or(0),
                    .communicator = rank.movesDeviceMemory ? rank.communicator.get() : nullptr};
  if (!options.isDryRun()) {
    const unsigned share =
        takeCpuShare({.index = rank.localIndex, .count = rank.localRanks, .forked = rank.supervised});
    place.threads = options.threads.value_or(share);
  }
  return openDevice(options.device, targetOf(plan), place);
}

/// Maximum time for a failed rank on a GPU to release its resources after it has reported the failure.
constexpr double kSecondsToEnd = 2;

/// Prints generated text to standard output.
class TextPrinter : public RunObserver {
public:
  Status onText(std::string_view text) override { return printOutput(text); }
};

/// Announces the plan and the device before the first message of a run, so that nothing comes before the
/// error of a run whose inputs are wrong.
class Announcer : public RunObserver {
public:
  explicit Announcer(std::function<void()> announce) : announce_(std::move(announce)) {}

  Status onBegin(const RunBegin &) override { return announce(); }
  Status onText(std::string_view) override { return announce(); }
  void onNote(std::string_view) override { (void)announce(); }
  void onWarning(std::string_view) override { (void)announce(); }

private:
  Status announce() {
    if (const auto once = std::exchange(announce_, nullptr))
      once();
    return {};
  }

  std::function<void()> announce_; ///< empty once it was called
};

Status describeData(const Executor &executor, DataUse use, const Options &options) {
  const bool training = use == DataUse::kTraining;
  if ((training ? options.data : options.evalData).empty())
    return {};
  TRAINC_ASSIGN_OR_RETURN(const Dataset dataset, openData(executor, options, use));
  return printText(fmt::format("{} data: {} samples in {} file{}\n", training ? "training" : "evaluation",
                               dataset.samples(), dataset.files().size(),
                               dataset.files().size() == 1 ? "" : "s"));
}

Status dryRun(const Executor &executor, const Options &options) {
  TRAINC_RETURN_IF_ERROR(printText(details(executor)));
  TRAINC_RETURN_IF_ERROR(describeData(executor, DataUse::kTraining, options));
  return describeData(executor, DataUse::kEvaluation, options);
}

void announce(TrainingRun &run, const OpenedDevice &chosen, const Options &options, Log &log) {
  log.info("{}", summary(run.executor()));
  if (const auto offloaded = describeOffload(run.executor().plan(), options))
    log.info("{}", *offloaded);
  log.info("{}", run.executor().device().description());
  if (const auto warning = beyondMemoryLimit(run.executor().plan(), run.executor().device().blockMemory()))
    log.warning("{}", *warning);
  if (options.threads && chosen.threads < *options.threads)
    log.warning("the system starts {} of the {} threads asked for; results are the same", chosen.threads,
                *options.threads);
}

Status checkRoom(const fb::Plan &plan, const Options &options, const Rank &rank, const Device &device,
                 Log &log) {
  const Communicator::LocalWait talk(rank.communicator.get());
  const Result<std::optional<std::string>> warning = checkGpuMemory(plan, device);
  if (!warning.ok())
    return {warning.status().code(), fmt::format("{}: {}", options.plan, warning.status().message())};
  if (*warning)
    log.warning("{}: {}", options.plan, **warning);
  return {};
}

/// Chooses the folder of disk arenas, and warns about it once per host.
void settleOffload(const fb::Plan &plan, const Options &options, const Rank &rank, Device &device, Log &log) {
  device.keepDiskArenasIn(offloadFolder(options));
  if (rank.localIndex > 0 || options.isDryRun())
    return;
  if (const auto warning = offloadWarning(plan, options)) {
    const Communicator::LocalWait talk(rank.communicator.get());
    log.warning("{}", *warning);
  }
}

/// File of the rank's profile; empty: none.
std::string profileFile(const Options &options, const Rank &rank) {
  const std::string file = options.profileFile();
  return file.empty() ? file : fileOfRank(file, rank.index);
}

/// Reports measurements, also of a failed run. Returns whether their files are complete.
bool reportMeasurements(Executor &executor, const Options &options, const Rank &rank, Log &log) {
  Status profiled;
  if (const std::optional<Profile> profile = executor.profile()) {
    if (const std::string file = profileFile(options, rank); file.empty()) {
      log.answer("{}", profileTable(*profile)); // nothing else tells it
    } else {
      log.info("{}", profileTable(*profile));
      profiled = writeProfile(*profile, file);
    }
  }
  const Status traced = executor.finishTrace();
  for (const Status &each : {profiled, traced})
    if (!each.ok())
      log.warning("{}", each.message());
  if (const auto memory = describeGpuMemory(executor.plan(), executor.device()))
    log.info("{}", *memory);
  return profiled.ok() && traced.ok();
}

/// Fails on all ranks, after the training, if a rank's files are incomplete. No rank ends before the others
/// know, because launchers end all ranks with the first that fails.
Status requireWritten(bool isWritten, ControlChannel &control) {
  const Status own = isWritten ? Status()
                               : failed("the run is done, and not all that was asked for could be written; "
                                        "warnings above name the files");
  return control.anyStops(false, own).status();
}

StopRequests stopBySignal(const Rank &rank) {
  return {.listen = [&rank] { catchStopSignals(rank.secondSignal()); }, .reason = stopSignal};
}

/// Resources of a run. They outlive the report of a failure, because releasing them may take long or hang.
struct Holdings {
  Holdings(const Options &options, Log &log)
      : announcer([this, &options, &log] { announce(*run, chosen, options, log); }), console(log),
        metrics(options.metrics, log) {}

  Announcer announcer;
  ConsoleObserver console;
  MetricsObserver metrics;
  TextPrinter text;
  OpenedDevice chosen;
  std::unique_ptr<TrainingRun> run;
};

Status run(const PlanFile &file, const Options &options, const Rank &rank, Log &log, Holdings &holdings) {
  TRAINC_ASSIGN_OR_RETURN(holdings.chosen, openDevice(file.plan(), options, rank));
  const OpenedDevice &chosen = holdings.chosen;
  settleOffload(file.plan(), options, rank, *chosen.device, log);
  if (const std::string profile = profileFile(options, rank); !profile.empty())
    TRAINC_RETURN_IF_ERROR(checkProfileFile(profile));
  TRAINC_RETURN_IF_ERROR(checkRoom(file.plan(), options, rank, *chosen.device, log));
  RunContext context{.observers = {&holdings.announcer, &holdings.console},
                     .communicator = rank.communicator.get(),
                     .threads = chosen.threads,
                     .stop = stopBySignal(rank),
                     .secondsSinceStart = [&] { return rank.secondsBefore + secondsSinceProcessStart(); }};
  if (rank.writes() && !options.metrics.empty())
    context.observers.push_back(&holdings.metrics);
  if (rank.writes())
    context.observers.push_back(&holdings.text);

  TRAINC_ASSIGN_OR_RETURN(holdings.run,
                          TrainingRun::create(file, *chosen.device, options, std::move(context)));
  TrainingRun &run = *holdings.run;
  if (options.isDryRun())
    return dryRun(run.executor(), options);
  const Status status = run.run();
  std::optional<Communicator::LocalWait> talk(std::in_place, rank.communicator.get());
  const bool isWritten =
      reportMeasurements(run.executor(), options, rank, log) && holdings.metrics.isComplete();
  talk.reset();
  return status.ok() ? requireWritten(isWritten, run.executor().control()) : status;
}

/// Catches allocation failures, for which no Status can be allocated. Nothing else throws.
Status runToTheEnd(const PlanFile &file, const Options &options, const Rank &rank, Log &log,
                   Holdings &holdings) {
  try {
    return run(file, options, rank, log, holdings);
  } catch (const std::bad_alloc &) {
    return {StatusCode::kFailed, fmt::format("{}: out of memory", kNoMemory)};
  }
}

/// Ends the process with the exit code if it has not ended within `seconds`.
void endWithin(double seconds, int code) {
  (void)std::fflush(nullptr);
  std::thread watch = tryStartThread([=] {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    std::_Exit(code);
  });
  if (watch.joinable())
    watch.detach();
}

} // namespace

LogLevel logLevelOf(const Rank &rank, const Options &options) {
  const bool speaks = rank.index == 0 || (options.logOnEachNode && rank.localIndex == 0);
  const Result<LogLevel> level = parseLogLevel(speaks ? options.logLevel : options.logLevelReplica);
  return level.ok() ? *level : LogLevel::kInfo; // the command line was checked
}

FirstError::FirstError() {
  void *page = mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED)
    word_.reset(new (page) std::atomic<uint64_t>(0));
}

void FirstError::Unmap::operator()(std::atomic<uint64_t> *word) const { munmap(word, sizeof(*word)); }

bool FirstError::claim(std::string_view message) const {
  const uint64_t hash = xxh3(std::as_bytes(std::span(message)));
  uint64_t said = 0;
  return !word_ || word_->compare_exchange_strong(said, hash) || said != hash;
}

int runRank(const PlanFile &file, const Options &options, const Rank &rank, const FirstError &firstError) {
  Log log(stderr, logLevelOf(rank, options), rank.logPrefix());
  Holdings holdings(options, log);
  const Status status = runToTheEnd(file, options, rank, log, holdings);
  if (status.ok())
    return 0;
  if (rank.communicator)
    rank.communicator->fail(status.message());
  if (firstError.claim(status.message()))
    log.error("{}", status.message());
  if (rank.movesDeviceMemory) // collectives that wait for peers occupy the GPU
    endWithin(kSecondsToEnd, status.exitCode());
  return status.exitCode();
}

} // namespace trainc
