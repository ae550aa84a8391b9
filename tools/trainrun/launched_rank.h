// Identity of a process among the ranks that a launcher started.
#pragma once

#include "base/status.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace trainc {

/// Programs that start ranks as processes, with environment variables for the rank.
enum class Launcher : uint8_t { kTorchrun, kMpirun, kSrun };

/// "torchrun", "mpirun", "srun".
const char *launcherName(Launcher launcher);

/// Information from a launcher's variables.
struct LaunchedRank {
  Launcher launcher = Launcher::kTorchrun;
  uint32_t rank = 0, ranks = 1;
  uint32_t localRank = 0, localRanks = 1; ///< on this host
  std::string job; ///< job identifier, equal on all ranks and unique among this user's jobs on the host;
                   ///< empty: unknown
  /// Further identification of the job, equal on all its ranks. It distinguishes jobs with the same `job`,
  /// which may be just a port. Empty: none.
  std::string launch = {};
  std::string address = {};    ///< torchrun's MASTER_ADDR
  std::string port = {};       ///< torchrun's MASTER_PORT
  bool portIsTaken = false;    ///< torchrun itself listens on the port (TORCHELASTIC_USE_AGENT_STORE)
  std::string passedOver = {}; ///< contradictory variables of another launcher, for the user; may be empty
  /// Whether the ranks already run. Slurm also sets the number of ranks for the script that starts them.
  bool started = true;
};

/// Looks up an environment variable; null if it is not set.
using Environment = std::function<const char *(const char *name)>;

/// Reads the variables of torchrun (RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR,
/// MASTER_PORT), else of mpirun (Open MPI or MPICH), else of srun; nothing if none are set. Fails with
/// kInvalidInput, naming the variable, if they are not numbers or contradict each other.
Result<std::optional<LaunchedRank>> rankFromEnvironment(const Environment &environment);

/// Best guess of the rank's identity if its variables contradict each other, so that the rank can report to
/// the others, which wait for it; nothing if its number is unknown. Unusable variables are replaced by the
/// values of a plan of `planRanks`.
std::optional<LaunchedRank> guessRank(const Environment &environment, uint32_t planRanks);

/// Fails with kInvalidInput if only one of RANK and WORLD_SIZE is set.
Status checkTorchrunIsWhole(const Environment &environment);

} // namespace trainc
