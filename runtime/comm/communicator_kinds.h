// The registry of communicators: the values of --comm.
#pragma once

#include "runtime/comm/communicator.h"

#include <memory>
#include <span>
#include <string_view>

namespace trainc {

/// A rank, and its place on its host.
struct RankPlace {
  uint32_t rank = 0;
  uint32_t localIndex = 0; ///< index among the ranks of this host
  uint32_t localRanks = 1; ///< number of ranks of this host
};

/// Connects the devices of all ranks, which have met through `hosts`. Collective: all ranks call it.
using ConnectRanks = Result<std::unique_ptr<Communicator>>(std::unique_ptr<Communicator> hosts,
                                                           const RankPlace &place, const Mesh &mesh);

/// Limits and ranks of a job.
struct JobOptions {
  /// Timeout: seconds without progress after which a rank that others wait for counts as dead.
  double timeoutSeconds = 5;
  /// Maximum number of collectives in flight per rank.
  uint32_t inFlight = 64;
  /// The mesh of all ranks; without axes, one axis of as many ranks as the launcher has started.
  Mesh mesh = {};
  /// Timeout of the start, which waits for all ranks.
  double startSeconds = 60;
};

/// Returns the communicator of this process among the ranks of a job, which a launcher has started and
/// numbered. Collective: all ranks call it.
using OpenJob = Result<std::unique_ptr<Communicator>>(const JobOptions &options);

/// A kind of communicator.
struct CommunicatorKind {
  std::string_view name; ///< "nccl"
  std::string_view help; ///< end of a sentence
  std::string_view target =
      {};                      ///< of the plans whose tensors it moves; empty: tensors in the memory of hosts
  std::string_view title = {}; ///< "NCCL"; for kinds with a target or a job
  ConnectRanks *connect = nullptr; ///< for kinds with a target; null if the build lacks it
  OpenJob *open = nullptr;         ///< for kinds whose ranks are those of a job; else null
};

std::span<const CommunicatorKind> communicatorKinds();

/// Returns the kind named `name`; null if there is none.
const CommunicatorKind *findCommunicatorKind(std::string_view name);

/// Returns the kind through which ranks of several hosts meet if none is asked for.
const CommunicatorKind &jobCommunicator();

/// Returns the kind that moves tensors of plans for `target`; null if the tensors are in host memory.
const CommunicatorKind *communicatorOfTarget(std::string_view target);

} // namespace trainc
