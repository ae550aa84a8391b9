// One rank: who it is, and what it does from its log to its exit code.
#pragma once

#include "runtime/base/stop_signal.h"
#include "runtime/comm/communicator.h"
#include "runtime/log/log.h"
#include "runtime/plan/file.h"
#include "tools/trainrun/options.h"

#include <atomic>
#include <fmt/format.h>
#include <memory>
#include <string_view>

namespace trainc {

class NcclCommunicator;

/// One rank of a run: the only one, or one of several that run the same plan.
struct Rank {
  uint32_t index = 0;
  uint32_t localIndex = 0; ///< among those of this host
  uint32_t localRanks = 1; ///< that share this host's CPUs
  /// Null where there is only one rank, and in dry runs.
  std::unique_ptr<Communicator> communicator = nullptr;
  NcclCommunicator *nccl = nullptr; ///< the communicator, where it is one of GPUs
  bool supervised = false;          ///< its parent hands it signals
  double secondsBefore = 0;         ///< that its parent ran before it started it

  /// Whether this is the rank that writes what is written once: generated text, metrics.
  bool writes() const { return index == 0; }
  SecondSignal secondSignal() const {
    return supervised ? SecondSignal::kLeftToParent : SecondSignal::kEndsProcess;
  }
  /// What begins each line that it logs: "[rank 2] ", nothing for rank 0.
  std::string logPrefix() const { return index == 0 ? "" : fmt::format("[rank {}] ", index); }
};

/// At which level a rank logs.
LogLevel logLevelOf(const Rank &rank, const Options &options);

/// Which error the ranks of a run said first, in memory that they share: all find the same wrong with a
/// command line or a file, and one of them tells.
class FirstError {
public:
  /// Make it before the ranks are forked.
  FirstError();

  /// Whether nobody has said this yet; where there is no memory to share, always.
  bool claim(std::string_view message) const;

private:
  struct Unmap {
    void operator()(std::atomic<uint64_t> *word) const;
  };
  std::unique_ptr<std::atomic<uint64_t>, Unmap> word_;
};

/// Does what `options` ask for with the plan in `file`, together with the other ranks, and returns the exit
/// code. Messages go to standard error; generated text and dry runs to standard output, from rank 0. An error
/// ends the other ranks' waits.
int runRank(const PlanFile &file, const Options &options, const Rank &rank, const FirstError &firstError);

} // namespace trainc
