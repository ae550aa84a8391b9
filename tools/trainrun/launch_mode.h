// How the ranks of a plan are started.
#pragma once

#include "plan/schema/targets.h"
#include "tools/trainrun/launched_rank.h"
#include "tools/trainrun/options.h"

namespace trainc {

/// Role of this process among the plan's ranks.
enum class LaunchMode : uint8_t {
  kAlone, ///< the only rank
  kFork,  ///< parent: starts the ranks as processes of this host, and supervises them
  kJoin,  ///< one of the ranks of this host that a launcher started
  kJob,   ///< a rank of the job of a communicator's library (MPI)
  kTcp,   ///< one of the ranks of several hosts that a launcher without MPI started
};

/// Fails with kInvalidInput, and advice, if --device does not match the plan's target.
Status checkDevice(const TargetTraits &target, const Options &options);

/// Fails with kInvalidInput, and advice, if --comm does not match the plan's target.
Status checkComm(const TargetTraits &target, const Options &options);

/// Chooses the mode by --nproc-per-node, --comm and the launcher's variables (`place`). Fails with
/// kInvalidInput, and advice, if they contradict each other or the number of the plan's ranks, or if nothing
/// says how the ranks are started.
Result<LaunchMode> chooseLaunch(uint32_t planRanks, const Options &options,
                                const std::optional<LaunchedRank> &place);

} // namespace trainc
