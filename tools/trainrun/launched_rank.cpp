#include "tools/trainrun/launched_rank.h"

#include "tools/common/validators.h"

#include <algorithm>
#include <array>
#include <fmt/ranges.h>
#include <vector>

namespace trainc {

namespace {

/// Variable names of one launcher; null if it has no such variable.
struct Variables {
  Launcher launcher;
  const char *rank, *ranks, *localRank, *localRanks, *job;
};

constexpr std::array<Variables, 4> kKnown = {{
    {Launcher::kTorchrun, "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_PORT"},
    {Launcher::kMpirun, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE"},
    {Launcher::kMpirun, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", nullptr},
    {Launcher::kSrun, "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", nullptr, "SLURM_JOB_ID"},
}};

/// The number in a variable; `missing` if it is not set.
Result<uint32_t> number(const Environment &environment, const char *name, uint32_t missing) {
  const char *text = name ? environment(name) : nullptr;
  if (!text)
    return missing;
  if (const std::optional<uint32_t> value = parseNumber<uint32_t>(text))
    return *value;
  return invalidInput("the environment variable {} is '{}'; expected a whole number, as a launcher sets it",
                      name, text);
}

/// Jobs at several addresses of a host may use the same port.
std::string torchrunJob(const Environment &environment, const std::string &port) {
  const char *address = environment("MASTER_ADDR");
  return port.empty() || !address ? port : fmt::format("{}:{}", address, port);
}

/// A job may run several steps, one after the other or concurrently.
std::string slurmStep(const Environment &environment, const std::string &job) {
  const char *step = environment("SLURM_STEP_ID");
  return job.empty() || !step ? job : fmt::format("{}.{}", job, step);
}

/// "TORCHELASTIC_RUN_ID=a SLURM_JOB_ID=7": the variables that are set. Excludes Slurm's step, because the
/// ranks may be started in several steps.
std::string launchOf(const Environment &environment) {
  std::vector<std::string> known;
  for (const char *name : {"TORCHELASTIC_RUN_ID", "SLURM_JOB_ID"})
    if (const char *value = environment(name))
      known.push_back(fmt::format("{}={}", name, value));
  return fmt::format("{}", fmt::join(known, " "));
}

/// Slurm does not tell the number of ranks per host, unless there is only one host.
Status completeSlurm(const Environment &environment, LaunchedRank &place) {
  const char *stepTasks = "SLURM_STEP_NUM_TASKS";
  place.started = environment(stepTasks) != nullptr;
  TRAINC_ASSIGN_OR_RETURN(place.ranks, number(environment, stepTasks, place.ranks));
  const char *nodes = place.started ? "SLURM_STEP_NUM_NODES" : "SLURM_NNODES";
  TRAINC_ASSIGN_OR_RETURN(const uint32_t hosts, number(environment, nodes, 0));
  place.localRanks = hosts <= 1 ? place.ranks : place.localRank + 1;
  place.job = slurmStep(environment, place.job);
  return {};
}

Status checkPlace(const Variables &names, const LaunchedRank &place) {
  if (place.rank >= place.ranks)
    return invalidInput("{}={} and {}={} contradict each other: ranks are numbered from 0", names.rank,
                        place.rank, names.ranks, place.ranks);
  if (place.localRanks > place.ranks)
    return invalidInput("{}={}: this host cannot have {} ranks of {}", names.ranks, place.ranks,
                        place.localRanks, place.ranks);
  if (place.localRank >= place.localRanks)
    return invalidInput("{}={}: ranks of this host are numbered from 0, and it has {}", names.localRank,
                        place.localRank, place.localRanks);
  return {};
}

/// Reads the names by which the ranks of a job find each other.
void readJob(const Environment &environment, const Variables &names, LaunchedRank &place) {
  if (const char *job = names.job ? environment(names.job) : nullptr)
    place.job = job;
  place.launch = launchOf(environment);
  if (names.launcher != Launcher::kTorchrun)
    return;
  const auto text = [&](const char *name) -> std::string {
    const char *value = environment(name);
    return value ? value : "";
  };
  place.address = text("MASTER_ADDR");
  place.portIsTaken = text("TORCHELASTIC_USE_AGENT_STORE") == "True";
  place.port = place.job;
  place.job = torchrunJob(environment, place.job);
}

Result<std::optional<LaunchedRank>> read(const Environment &environment, const Variables &names) {
  if (!environment(names.rank) || !environment(names.ranks))
    return std::optional<LaunchedRank>();
  LaunchedRank place;
  place.launcher = names.launcher;
  TRAINC_ASSIGN_OR_RETURN(place.rank, number(environment, names.rank, 0));
  TRAINC_ASSIGN_OR_RETURN(place.ranks, number(environment, names.ranks, 1));
  TRAINC_ASSIGN_OR_RETURN(place.localRank, number(environment, names.localRank, place.rank));
  // If unknown, all ranks are assumed on one host; otherwise they do not find each other, and the error says
  // so.
  TRAINC_ASSIGN_OR_RETURN(place.localRanks, number(environment, names.localRanks, place.ranks));
  readJob(environment, names, place);
  if (names.launcher == Launcher::kSrun)
    TRAINC_RETURN_IF_ERROR(completeSlurm(environment, place));
  TRAINC_RETURN_IF_ERROR(checkPlace(names, place));
  return std::optional(std::move(place));
}

/// "RANK=0 and WORLD_SIZE=2 of torchrun".
std::string describe(const Environment &environment, const Variables &names) {
  return fmt::format("{}={} and {}={} of {}", names.rank, environment(names.rank), names.ranks,
                     environment(names.ranks), launcherName(names.launcher));
}

/// Describes variables of launchers after the one in `followed` that contradict it: usual if one launcher
/// starts the other, such as srun torchrun; otherwise left over.
std::string describePassedOver(const Environment &environment, const Variables &followed,
                               const LaunchedRank &place) {
  for (const Variables &names : kKnown) {
    if (names.launcher <= followed.launcher)
      continue;
    const Result<std::optional<LaunchedRank>> other = read(environment, names);
    if (!other.ok() || !*other || !(*other)->started)
      continue;
    if ((*other)->rank != place.rank || (*other)->ranks != place.ranks)
      return fmt::format("{} count, and {} are passed over", describe(environment, followed),
                         describe(environment, names));
  }
  return {};
}

} // namespace

const char *launcherName(Launcher launcher) {
  static constexpr std::array<const char *, 3> names = {"torchrun", "mpirun", "srun"};
  return names[static_cast<size_t>(launcher)];
}

Result<std::optional<LaunchedRank>> rankFromEnvironment(const Environment &environment) {
  for (const Variables &names : kKnown) {
    TRAINC_ASSIGN_OR_RETURN(std::optional<LaunchedRank> place, read(environment, names));
    if (!place)
      continue;
    place->passedOver = describePassedOver(environment, names, *place);
    return place;
  }
  return std::optional<LaunchedRank>();
}

std::optional<LaunchedRank> guessRank(const Environment &environment, uint32_t planRanks) {
  const auto *names =
      std::ranges::find_if(kKnown, [&](const Variables &each) { return environment(each.rank) != nullptr; });
  if (names == kKnown.end())
    return std::nullopt;
  const Result<uint32_t> rank = number(environment, names->rank, 0);
  if (!rank.ok())
    return std::nullopt;
  LaunchedRank place{.launcher = names->launcher, .rank = *rank, .job = {}};
  place.ranks = std::max(planRanks, *rank + 1);
  // Fewer ranks on this host than the plan has: the others are on other hosts.
  const Result<uint32_t> localRanks = number(environment, names->localRanks, place.ranks);
  place.localRanks = localRanks.ok() && *localRanks < planRanks ? *localRanks : place.ranks;
  readJob(environment, *names, place);
  if (names->launcher == Launcher::kSrun)
    place.job = slurmStep(environment, place.job);
  return place;
}

Status checkTorchrunIsWhole(const Environment &environment) {
  const char *rank = environment("RANK"), *ranks = environment("WORLD_SIZE");
  if (!rank == !ranks)
    return {};
  return invalidInput("the environment variable {}={} is set, but {} is not: set both, as torchrun does, or "
                      "neither",
                      rank ? "RANK" : "WORLD_SIZE", rank ? rank : ranks, rank ? "WORLD_SIZE" : "RANK");
}

} // namespace trainc
