// Where a process stands among the ranks that a launcher started.
#pragma once

#include "runtime/base/status.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace trainc {

/// Who starts ranks, each as a process with variables that say which one it is.
enum class Launcher : uint8_t { kTorchrun, kMpirun, kSrun };

/// "torchrun", "mpirun", "srun".
const char *launcherName(Launcher launcher);

/// What a launcher's variables say of this process.
struct LaunchedRank {
  Launcher launcher = Launcher::kTorchrun;
  uint32_t rank = 0, ranks = 1;
  uint32_t localRank = 0, localRanks = 1; ///< on this host
  std::string job; ///< the same for all ranks, and no other job's of this user on the host; empty: unknown
  /// What else the environment says of the job, the same for all its ranks: where jobs meet under one name,
  /// such as a port, it may tell them apart. Empty: nothing.
  std::string launch = {};
  std::string address = {};    ///< torchrun's MASTER_ADDR
  std::string port = {};       ///< torchrun's MASTER_PORT
  bool portIsTaken = false;    ///< torchrun itself listens there (TORCHELASTIC_USE_AGENT_STORE)
  std::string passedOver = {}; ///< what another launcher's variables say otherwise, for the user; or nothing
  /// Whether the ranks run already. Slurm says how many there may be to the script that starts them, too.
  bool started = true;
};

/// Looks up an environment variable; null where it is not set.
using Environment = std::function<const char *(const char *name)>;

/// What torchrun's variables say (RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT),
/// else those of mpirun (Open MPI's, or MPICH's and its kin's), else those of srun; nothing where none of
/// them are set. Fails (kInvalidInput), naming the variable, where they are no numbers or contradict each
/// other.
Result<std::optional<LaunchedRank>> rankFromEnvironment(const Environment &environment);

/// Where a rank whose variables contradict each other can tell so to the others, who wait for it: nothing
/// where it does not know its number. Variables that are no use are taken to be as a plan of `planRanks`
/// wants them.
std::optional<LaunchedRank> meetingPlace(const Environment &environment, uint32_t planRanks);

/// Fails (kInvalidInput) where one of RANK and WORLD_SIZE is set and the other is not.
Status checkTorchrunIsWhole(const Environment &environment);

} // namespace trainc
