#include "tools/trainrun/launch_mode.h"

#include "runtime/device/device_kinds.h"
#include "tools/common/validators.h"

namespace trainc {

namespace {

Status checkProcesses(uint32_t planRanks, const Options &options, const std::optional<LaunchedRank> &place) {
  const unsigned processes = *options.processes;
  if (planRanks == 1 && processes != 1)
    return invalidInput("--nproc-per-node={}: the plan {} is for 1 rank; leave the option out, or compile "
                        "with --ranks={}",
                        processes, options.plan, processes);
  if (processes != planRanks)
    return invalidInput(
        "--nproc-per-node={}: the plan {} is for {} ranks: use --nproc-per-node={}, or compile "
        "with --ranks={}; for ranks on several hosts, start it with mpirun, srun or torchrun "
        "and leave the option out",
        processes, options.plan, planRanks, planRanks, processes);
  if (place && place->started && place->ranks > 1)
    return invalidInput("--nproc-per-node={}: {} started {} ranks already; leave the option out", processes,
                        launcherName(place->launcher), place->ranks);
  if (const CommunicatorKind *kind = findCommunicatorKind(options.comm); kind && kind->open && processes > 1)
    return invalidInput("--nproc-per-node={} and --comm={} contradict each other: {}'s ranks are started by "
                        "mpirun or srun; leave one out",
                        processes, kind->name, kind->title);
  return {};
}

Status checkPlace(uint32_t planRanks, const Options &options, const LaunchedRank &place) {
  if (place.ranks == planRanks)
    return {};
  return invalidInput("{}: the plan is for {} rank{}, but {} started {}: start {} instead, or compile with "
                      "--ranks={}{}",
                      options.plan, planRanks, planRanks == 1 ? "" : "s", launcherName(place.launcher),
                      place.ranks, planRanks, place.ranks,
                      place.passedOver.empty() ? "" : " (" + place.passedOver + ")");
}

/// How ranks that a launcher started find each other.
Result<LaunchMode> meet(const Options &options, const LaunchedRank &place) {
  const bool oneHost = place.localRanks == place.ranks;
  const CommunicatorKind *kind = findCommunicatorKind(options.comm);
  const bool isForDevices = kind && !kind->target.empty();
  const bool chooses = !kind || isForDevices;
  const bool isTcp = isForDevices && place.launcher == Launcher::kTorchrun && !oneHost;
  if (isTcp && place.address.empty())
    return invalidInput(
        "MASTER_ADDR is not set: the ranks of several hosts meet at rank 0's, by its address; set "
        "it as torchrun does, or start them with mpirun or srun");
  if (chooses && !isTcp && (place.launcher == Launcher::kMpirun || !oneHost))
    return LaunchMode::kJob;
  if (!oneHost && !isTcp)
    return invalidInput("--comm={}: {} of the {} ranks are on this host, the others elsewhere; ranks of "
                        "several hosts need --comm={}",
                        options.comm, place.localRanks, place.ranks, jobCommunicator().name);
  if (place.job.empty())
    return invalidInput("the ranks that {} started cannot find each other; set MASTER_PORT to one "
                        "number for all of them, or use --comm={}",
                        launcherName(place.launcher), jobCommunicator().name);
  if (const auto port = parseNumber<uint32_t>(place.port);
      place.launcher == Launcher::kTorchrun && (!port || *port < 1 || *port > 65535))
    return invalidInput(
        "the environment variable MASTER_PORT is '{}'; expected a number from 1 to 65535, the "
        "same for all ranks and for no other job of this host",
        place.port);
  return isTcp ? LaunchMode::kTcp : LaunchMode::kJoin;
}

} // namespace

Status checkDevice(const TargetTraits &target, const Options &options) {
  const DeviceKind *kind = findDeviceKind(options.device);
  if (!kind || !kind->computes() || kind->target == target.name)
    return {};
  return invalidInput("--device={}: the plan {} is for {}: leave the option out, or compile with --target={}",
                      options.device, options.plan, target.processors, kind->target);
}

Status checkComm(const TargetTraits &target, const Options &options) {
  const CommunicatorKind *kind = findCommunicatorKind(options.comm);
  if (!kind || kind->target == target.name)
    return {};
  if (const CommunicatorKind *needed = communicatorOfTarget(target.name))
    return invalidInput("--comm={}: the plan {} is for {}, which communicate through {}: leave the option "
                        "out, or compile with --target={}",
                        options.comm, options.plan, target.processors, needed->title, kDefaultTarget.name);
  if (kind->target.empty())
    return {};
  return invalidInput(
      "--comm={}: the plan {} is for {}, and {} moves the memory of {}: leave the option out, "
      "or compile with --target={}",
      options.comm, options.plan, target.processors, kind->title, findTarget(kind->target)->processors,
      kind->target);
}

Result<LaunchMode> chooseLaunch(uint32_t planRanks, const Options &options,
                                const std::optional<LaunchedRank> &place) {
  if (options.processes) {
    TRAINC_RETURN_IF_ERROR(checkProcesses(planRanks, options, place));
    return planRanks == 1 ? LaunchMode::kAlone : LaunchMode::kFork;
  }
  if (place && (place->started || planRanks > 1))
    TRAINC_RETURN_IF_ERROR(checkPlace(planRanks, options, *place));
  if (planRanks == 1)
    return LaunchMode::kAlone;
  if (const CommunicatorKind *kind = findCommunicatorKind(options.comm); kind && kind->open)
    return LaunchMode::kJob;
  if (place)
    return meet(options, *place);
  return invalidInput(
      "{}: the plan is for {} ranks: add --nproc-per-node={}, or start it with mpirun, srun or torchrun",
      options.plan, planRanks, planRanks);
}

} // namespace trainc
