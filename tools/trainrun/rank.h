// What a session knows of itself as one of several ranks.
#pragma once

#include "runtime/base/stop_signal.h"
#include "runtime/comm/communicator.h"

#include <fmt/format.h>
#include <memory>

namespace trainc {

/// One rank of a run: the only one, or one of several that run the same plan.
struct Rank {
  uint32_t index = 0;
  uint32_t localIndex = 0; ///< among those of this host
  uint32_t localRanks = 1; ///< that share this host's CPUs
  /// Null where there is only one rank, and in dry runs.
  std::unique_ptr<Communicator> communicator = nullptr;
  bool supervised = false;  ///< its parent hands it signals
  double secondsBefore = 0; ///< that its parent ran before it started it

  /// Whether this is the rank that writes what is written once: generated text, metrics.
  bool writes() const { return index == 0; }
  SecondSignal secondSignal() const {
    return supervised ? SecondSignal::kLeftToParent : SecondSignal::kEndsProcess;
  }
  /// What begins each line that it logs: "[rank 2] ", nothing for rank 0.
  std::string logPrefix() const { return index == 0 ? "" : fmt::format("[rank {}] ", index); }
};

} // namespace trainc
