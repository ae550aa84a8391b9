// Ranks as child processes: started together, ended together.
#pragma once

#include "base/status.h"

#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace trainc {

/// Ranks of a supervisor, and what it calls about them.
struct SupervisedRanks {
  uint32_t count;
  /// Called in the child process of the rank; returns its exit code.
  std::function<int(uint32_t rank)> run;
  /// Called in this process when the rank cannot continue, so that the others' waits must end. May be called
  /// for several ranks.
  std::function<void(uint32_t rank, std::string_view reason)> fail;
  /// Called in this process with a message for the user: how a rank ended that could not report it.
  std::function<void(std::string_view message)> report;
};

/// Timeouts of a supervisor, in seconds.
struct SupervisorTimes {
  /// A rank that stays stopped for longer counts as dead. A terminal stops and continues all ranks together,
  /// and this process with them.
  double stopped = 0.5;
  double others = 4; ///< time for all ranks to end by themselves after one has failed
  /// Signals within this time count as one: some senders signal a process and also its group.
  double sameSignal = 0.3;
};

/// Runs ranks to their end. Forwards SIGTERM, SIGINT and SIGHUP to the ranks, which stop once all can; a
/// second signal ends them at once. If a rank is killed, stays stopped or ends with an error, the others are
/// told, and killed if they do not end. The ranks die with this process.
class Supervisor {
public:
  explicit Supervisor(SupervisedRanks ranks, SupervisorTimes times = {})
      : ranks_(std::move(ranks)), times_(times) {}
  Supervisor(const Supervisor &) = delete;
  Supervisor &operator=(const Supervisor &) = delete;

  /// Forks the ranks and waits until all have ended; before the call no thread may run. Returns 0, or the
  /// exit code of the first rank that failed (128 plus the signal's number if a signal ended it). Fails with
  /// kFailed if the system cannot start another process.
  Result<int> run();

private:
  struct Child {
    pid_t pid = -1; ///< -1: has ended
    bool stopped = false;
    double stoppedFor = 0; ///< seconds; counts only time in which this process ran
  };

  Status start();
  [[noreturn]] void runRank(uint32_t rank, pid_t parent) const;
  void watch();
  void collect();
  void onStatus(uint32_t rank, int status);
  void ended(uint32_t rank, int status);
  void recordFailure(uint32_t rank, int code, std::string_view reason);
  void onSignal(int signal);
  void killLate(double seconds);
  void kill(int signal) const;
  void kill(uint32_t rank, std::string_view message);
  bool anyLeft() const;

  SupervisedRanks ranks_;
  SupervisorTimes times_;
  sigset_t signals_{}, previousMask_{};
  std::vector<Child> children_;
  int exitCode_ = 0;
  std::optional<double> failedFor_, signalledFor_; ///< seconds since the event; empty: has not happened
};

} // namespace trainc
