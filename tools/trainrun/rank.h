// One rank: its identity, and its work from its log to its exit code.
#pragma once

#include "base/stop_signal.h"
#include "plan/file/file.h"
#include "runtime/comm/communicator_kinds.h"
#include "runtime/log/log.h"
#include "tools/trainrun/options.h"

#include <atomic>
#include <fmt/format.h>
#include <memory>
#include <string_view>

namespace trainc {

/// One rank of a run: the only one, or one of several that run the same plan.
struct Rank {
  uint32_t index = 0;
  uint32_t localIndex = 0; ///< index among the ranks of this host
  uint32_t localRanks = 1; ///< number of ranks that share this host's CPUs
  /// Null for a single rank, and in dry runs.
  std::unique_ptr<Communicator> communicator = nullptr;
  bool movesDeviceMemory = false; ///< whether the communicator moves the memory of devices
  bool supervised = false;        ///< whether its parent forwards signals
  double secondsBefore = 0;       ///< time that its parent ran before starting it

  RankPlace place() const { return {.rank = index, .localIndex = localIndex, .localRanks = localRanks}; }
  /// Whether this rank writes outputs that are written once: generated text, metrics.
  bool writes() const { return index == 0; }
  SecondSignal secondSignal() const {
    return supervised ? SecondSignal::kLeftToParent : SecondSignal::kEndsProcess;
  }
  /// Prefix of each log line: "[rank 2] ", empty for rank 0.
  std::string logPrefix() const { return index == 0 ? "" : fmt::format("[rank {}] ", index); }
};

/// Log level of a rank.
LogLevel logLevelOf(const Rank &rank, const Options &options);

/// The first error message among the ranks of a run, in shared memory: all ranks find the same error in a
/// command line or a file, and one of them prints it.
class FirstError {
public:
  /// Construct it before the ranks are forked.
  FirstError();

  /// Whether nobody has printed this message yet; always true if there is no shared memory.
  bool claim(std::string_view message) const;

private:
  struct Unmap {
    void operator()(std::atomic<uint64_t> *word) const;
  };
  std::unique_ptr<std::atomic<uint64_t>, Unmap> word_;
};

/// Runs the plan in `file` as `options` request, together with the other ranks, and returns the exit code.
/// Messages go to standard error; generated text and dry runs go to standard output, from rank 0. An error
/// ends the other ranks' waits.
int runRank(const PlanFile &file, const Options &options, const Rank &rank, const FirstError &firstError);

} // namespace trainc
