// How the ranks of a plan come to run.
#pragma once

#include "tools/trainrun/launched_rank.h"
#include "tools/trainrun/options.h"

namespace trainc {

/// What this process does about the plan's ranks.
enum class LaunchMode : uint8_t {
  kAlone, ///< it is the only rank
  kFork,  ///< it starts the ranks as processes of this host, and looks after them
  kJoin,  ///< it is one of the ranks of this host that a launcher started
  kMpi,   ///< it is a rank, and MPI knows which
  kTcp,   ///< it is one of the ranks of several hosts that a launcher without MPI started
};

/// Fails (kInvalidInput) where --device does not go with the processors that a plan is for: the message says
/// what to do.
Status checkDevice(bool isForGpus, const Options &options);

/// Fails (kInvalidInput) where --comm does not go with the processors that a plan of several ranks is for
/// (`isForGpus`): the message says what to do.
Status checkComm(bool isForGpus, const Options &options);

/// Chooses by --nproc-per-node, --comm and the launcher's variables (`place`). Fails (kInvalidInput) where
/// these and the number of the plan's ranks contradict each other, or where nothing says how the ranks are
/// started; the message says what to do.
Result<LaunchMode> chooseLaunch(uint32_t planRanks, const Options &options,
                                const std::optional<LaunchedRank> &place);

} // namespace trainc
