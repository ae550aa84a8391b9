#include "tools/trainrun/launch.h"

#include "base/clock.h"
#include "plan/facts/target.h"
#include "plan/facts/view.h"
#include "plan/file/signature.h"
#include "runtime/comm/local/local_group.h"
#include "runtime/comm/tcp/tcp_communicator.h"
#include "runtime/device/device_kinds.h"
#include "runtime/exec/executor.h"
#include "tools/trainrun/contradictions.h"
#include "tools/trainrun/launch_mode.h"
#include "tools/trainrun/rank.h"
#include "tools/trainrun/supervisor.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace trainc {

namespace {

/// Timeout of a rank that cannot take part, for reporting it to the others.
constexpr double kDeclineSeconds = 10;

/// The communicator that moves the memory of the plan's devices; null if their memory is the host's.
const CommunicatorKind *deviceCommunicator(const fb::Plan &plan) {
  return communicatorOfTarget(targetOf(plan).name);
}

/// Bytes that a host's ranks share. Device memory is not among them.
uint64_t sharedBytes(const fb::Plan &plan) {
  return deviceCommunicator(plan) ? 0 : communicatorNeeds(plan).bytes;
}

/// Connects the devices of the ranks, which have met already. Collective: all ranks call it.
Status connectDevices(const PlanFile &file, Rank &rank) {
  const CommunicatorKind *kind = deviceCommunicator(file.plan());
  if (!kind || file.plan().ranks() == 1)
    return {};
  if (!kind->connect)
    return lacksDevice(targetOf(file.plan()));
  TRAINC_ASSIGN_OR_RETURN(rank.communicator,
                          kind->connect(std::move(rank.communicator), rank.place(), Mesh(file.plan())));
  rank.movesDeviceMemory = true;
  return {};
}

LocalOptions localOptions(const fb::Plan &plan, const Options &options) {
  return {.timeoutSeconds = options.commTimeout, .inFlight = communicatorNeeds(plan).inFlight};
}

Result<int> runAlone(const PlanFile &file, const Options &options) {
  return runRank(file, options, Rank(), FirstError());
}

/// Creates the rank's communicator.
Status meetInGroup(const PlanFile &file, const LocalGroup &group, Rank &rank) {
  TRAINC_ASSIGN_OR_RETURN(rank.communicator, group.communicator(rank.index));
  return connectDevices(file, rank);
}

/// Runs in the process of the rank.
int runInGroup(const PlanFile &file, const Options &options, const LocalGroup &group,
               const FirstError &firstError, Rank rank) {
  if (const Status status = meetInGroup(file, group, rank); !status.ok()) {
    group.fail(rank.index, status.message());
    if (firstError.claim(status.message()))
      Log(stderr, LogLevel::kError, rank.logPrefix()).error("{}", status.message());
    return status.exitCode();
  }
  return runRank(file, options, rank, firstError);
}

Result<int> runForks(const PlanFile &file, const Options &options) {
  const uint32_t ranks = file.plan().ranks();
  TRAINC_ASSIGN_OR_RETURN(
      const LocalGroup group,
      LocalGroup::create(Mesh(file.plan()), sharedBytes(file.plan()), localOptions(file.plan(), options)));
  const FirstError firstError;
  Log log(stderr, LogLevel::kError);
  const double before = secondsSinceProcessStart();
  const auto run = [&](uint32_t rank) {
    return runInGroup(file, options, group, firstError,
                      {.index = rank,
                       .localIndex = rank,
                       .localRanks = ranks,
                       .supervised = true,
                       .secondsBefore = before});
  };
  Supervisor supervisor({.count = ranks,
                         .run = run,
                         .fail = [&](uint32_t rank, std::string_view reason) { group.fail(rank, reason); },
                         .report = [&](std::string_view message) { log.error("{}", message); }});
  return supervisor.run();
}

LocalPlace localPlace(const LaunchedRank &place) {
  return {.rank = place.rank, .job = place.job, .launch = place.launch};
}

Result<int> runJoined(const PlanFile &file, const Options &options, const LaunchedRank &place) {
  LocalPlace own = localPlace(place);
  own.fingerprint = file.checksum();
  TRAINC_ASSIGN_OR_RETURN(
      const LocalGroup group,
      LocalGroup::join(own, Mesh(file.plan()), sharedBytes(file.plan()), localOptions(file.plan(), options)));
  return runInGroup(file, options, group, FirstError(),
                    {.index = place.rank, .localIndex = place.localRank, .localRanks = place.localRanks});
}

/// The communicator determines the rank; a launcher's variables only tell which ranks share the host.
Result<int> runInJob(const PlanFile &file, const Options &options, const std::optional<LaunchedRank> &place) {
  const fb::Plan &plan = file.plan();
  const CommunicatorKind *asked = findCommunicatorKind(options.comm);
  OpenJob *open = asked && asked->open ? asked->open : jobCommunicator().open;
  Rank rank;
  TRAINC_ASSIGN_OR_RETURN(rank.communicator, open({.timeoutSeconds = options.commTimeout,
                                                   .inFlight = communicatorNeeds(plan).inFlight,
                                                   .mesh = Mesh(plan)}));
  rank.index = rank.communicator->rank();
  rank.localIndex = place ? place->localRank : rank.index;
  rank.localRanks = place ? place->localRanks : 1;
  TRAINC_RETURN_IF_ERROR(connectDevices(file, rank));
  return runRank(file, options, rank, FirstError());
}

/// If torchrun itself listens on the port, the next one.
uint16_t tcpPort(const LaunchedRank &place) {
  const auto port = static_cast<uint32_t>(std::strtoul(place.port.c_str(), nullptr, 10)); // was validated
  return static_cast<uint16_t>(place.portIsTaken ? (port == UINT16_MAX ? port - 1 : port + 1) : port);
}

TcpPlace tcpPlace(const LaunchedRank &place, std::string secret) {
  return {.rank = place.rank,
          .ranks = place.ranks,
          .address = place.address,
          .port = tcpPort(place),
          .secret = std::move(secret)};
}

Result<int> runOverTcp(const PlanFile &file, const Options &options, const LaunchedRank &place) {
  Rank rank{.index = place.rank, .localIndex = place.localRank, .localRanks = place.localRanks};
  TRAINC_ASSIGN_OR_RETURN(std::string secret, secretFromEnvironment());
  Log log(stderr, logLevelOf(rank, options), rank.logPrefix());
  TcpPlace own = tcpPlace(place, std::move(secret));
  own.fingerprint = file.checksum();
  own.warn = [&](const auto &text) { log.warning("{}", text); };
  TRAINC_ASSIGN_OR_RETURN(rank.communicator,
                          TcpCommunicator::create(own, {.timeoutSeconds = options.commTimeout}));
  TRAINC_RETURN_IF_ERROR(connectDevices(file, rank));
  return runRank(file, options, rank, FirstError());
}

/// The plan and the role of this process.
struct Part {
  PlanFile file;
  std::optional<LaunchedRank> place;
  LaunchMode mode;
};

const char *variable(const char *name) { return std::getenv(name); }

/// The options, with the communicator of the plan's devices where ranks exchange their memory.
Options withCommunicator(const fb::Plan &plan, Options options) {
  if (const CommunicatorKind *kind = deviceCommunicator(plan); kind && plan.ranks() > 1)
    options.comm = kind->name;
  return options;
}

/// If nothing says how the ranks are started, a single missing variable may be the cause.
Result<LaunchMode> chooseMode(const PlanFile &file, const Options &options,
                              const std::optional<LaunchedRank> &place) {
  Result<LaunchMode> mode = chooseLaunch(file.plan().ranks(), withCommunicator(file.plan(), options), place);
  if (!mode.ok() && !place && !options.processes)
    TRAINC_RETURN_IF_ERROR(checkTorchrunIsWhole(variable));
  return mode;
}

Result<PlanFile> openPlan(const Options &options) {
  if (options.trust.empty())
    return PlanFile::open(options.plan);
  const Result<TrustedKeys> keys = TrustedKeys::open(options.trust);
  if (!keys.ok())
    return Status(keys.status().code(), fmt::format("--trust={}", keys.status().message()));
  return PlanFile::open(options.plan, [&](auto content) { return keys->check(options.plan, content); });
}

Result<Part> preparePart(const Options &options) {
  TRAINC_ASSIGN_OR_RETURN(PlanFile file, openPlan(options));
  TRAINC_RETURN_IF_ERROR(checkHasWeights(file.plan(), options));
  TRAINC_RETURN_IF_ERROR(checkComm(targetOf(file.plan()), options));
  TRAINC_ASSIGN_OR_RETURN(std::optional<LaunchedRank> place, rankFromEnvironment(variable));
  LaunchMode mode = LaunchMode::kAlone; // a dry run needs no peers
  if (!options.isDryRun()) {
    TRAINC_RETURN_IF_ERROR(checkDevice(targetOf(file.plan()), options));
    TRAINC_ASSIGN_OR_RETURN(mode, chooseMode(file, options, place));
  }
  return Part{std::move(file), std::move(place), mode};
}

/// Printed before the ranks meet, because it may explain why they do not.
void sayWhoseVariablesCount(const LaunchedRank &place, const Options &options) {
  const Rank rank{.index = place.rank, .localIndex = place.localRank, .localRanks = place.localRanks};
  if (place.rank == 0 && !place.passedOver.empty())
    Log(stderr, logLevelOf(rank, options)).info("{}", place.passedOver);
}

void warnOfIdleOptions(const PlanFile &file, const Options &options) {
  if (file.plan().ranks() > 1 && !options.isDryRun())
    return;
  Log log(stderr, logLevelOf(Rank(), options));
  for (const std::string &option : options.ofRanks)
    log.warning("{} does nothing: {}", option,
                file.plan().ranks() > 1 ? "a dry run starts no ranks" : "the plan is for one rank");
}

Result<int> runPart(const Part &part, const Options &options) {
  switch (part.mode) {
  case LaunchMode::kAlone:
    return options.isDryRun() && part.place && part.place->rank > 0 ? 0 : runAlone(part.file, options);
  case LaunchMode::kFork:
    return runForks(part.file, options);
  case LaunchMode::kJoin:
    sayWhoseVariablesCount(*part.place, options);
    return runJoined(part.file, options, *part.place);
  case LaunchMode::kJob:
    return runInJob(part.file, options, part.place);
  case LaunchMode::kTcp:
    sayWhoseVariablesCount(*part.place, options);
    return runOverTcp(part.file, options, *part.place);
  }
  return 0;
}

/// Identity under which this rank can tell the others that it does not come. The others may be as many as the
/// plan says: the rank's variables may be what is wrong.
std::optional<LaunchedRank> identity(uint32_t planRanks) {
  const Result<std::optional<LaunchedRank>> read = rankFromEnvironment(variable);
  if (!read.ok() || !*read)
    return guessRank(variable, planRanks);
  LaunchedRank place = **read;
  const bool isOneHost =
      place.localRanks == place.ranks && place.ranks > 1; // one rank says nothing of others
  place.ranks = std::max(place.ranks, planRanks);
  place.localRanks = isOneHost ? place.ranks : place.localRanks;
  return place;
}

/// Options of a rank whose plan cannot be read. The plan may be for devices, whose ranks meet over TCP.
Options withoutPlan(Options options) {
  const auto kinds = communicatorKinds();
  const auto kind = std::ranges::find_if(kinds, [](const auto &each) { return !each.target.empty(); });
  if (!findCommunicatorKind(options.comm) && kind != kinds.end())
    options.comm = kind->name;
  return options;
}

/// Tells the other ranks, which wait for this one, why it does not come.
void decline(const LaunchedRank &place, LaunchMode mode, std::string_view reason) {
  if (mode == LaunchMode::kJoin) {
    LocalPlace own = localPlace(place);
    own.waitSeconds = kDeclineSeconds;
    LocalGroup::decline(own, place.ranks, reason);
  }
  if (mode == LaunchMode::kTcp)
    if (Result<std::string> secret = secretFromEnvironment(); secret.ok()) {
      TcpPlace own = tcpPlace(place, std::move(*secret));
      own.waitSeconds = kDeclineSeconds;
      declineOverTcp(own, reason);
    }
}

int say(const Status &status) {
  Log(stderr, LogLevel::kError).error("{}", status.message());
  return status.exitCode();
}

} // namespace

int launch(const Options &options) {
  const Result<Part> part = preparePart(options);
  if (!part.ok())
    return refuseToLaunch(options, part.status());
  warnOfIdleOptions(part->file, options);
  const Result<int> code = runPart(*part, options);
  return code.ok() ? *code : say(code.status());
}

int refuseToLaunch(const Options &options, const Status &status) {
  const int code = say(status);
  if (options.isDryRun())
    return code;
  const Result<PlanFile> file = openPlan(options);
  const std::optional<LaunchedRank> place = identity(file.ok() ? file->plan().ranks() : 1);
  if (!place || !place->started)
    return code;
  const Result<LaunchMode> mode = chooseLaunch(
      place->ranks, file.ok() ? withCommunicator(file->plan(), options) : withoutPlan(options), place);
  if (mode.ok())
    decline(*place, *mode, status.message());
  return code;
}

} // namespace trainc
