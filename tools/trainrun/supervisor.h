// Ranks as child processes: started together, ended together.
#pragma once

#include "runtime/base/status.h"

#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace trainc {

/// What to run, and whom to tell.
struct SupervisorParts {
  uint32_t ranks;
  /// In the child that is the rank; returns its exit code.
  std::function<int(uint32_t rank)> run;
  /// In this process: the rank cannot go on, so the others' waits must end. May be called for several ranks.
  std::function<void(uint32_t rank, std::string_view reason)> fail;
  /// In this process, for the user: how a rank ended that could not say so itself.
  std::function<void(std::string_view message)> report;
};

/// How patient a supervisor is, in seconds.
struct SupervisorTimes {
  /// A rank that is stopped longer than that counts as dead; a terminal stops and continues all at once.
  double stopped = 0.5;
  double others = 4; ///< what all ranks have to end by themselves, once one has failed
  /// Signals within that time are one: some send them to a process, and to its group as well.
  double sameSignal = 0.3;
};

/// Runs ranks to their end. SIGTERM, SIGINT and SIGHUP go to the ranks, which stop when they all can; a
/// second one ends them at once. When a rank is killed, stays stopped or ends with an error, the others are
/// told, and killed where they do not end. When this process dies, so do the ranks.
class Supervisor {
public:
  explicit Supervisor(SupervisorParts parts, SupervisorTimes times = {})
      : parts_(std::move(parts)), times_(times) {}
  Supervisor(const Supervisor &) = delete;
  Supervisor &operator=(const Supervisor &) = delete;

  /// Forks the ranks, so no thread may have been started before, and returns when none is left: 0, or the
  /// exit code of the first that failed (128 and its number for a signal). Fails (kFailed) where the system
  /// starts no more processes.
  Result<int> run();

private:
  struct Child {
    pid_t pid = -1; ///< -1: has ended
    bool stopped = false;
    double stoppedFor = 0; ///< seconds in which this process ran
  };

  Status start();
  [[noreturn]] void runRank(uint32_t rank, pid_t parent) const;
  void watch();
  void collect();
  void note(uint32_t rank, int status);
  void ended(uint32_t rank, int status);
  void failed(uint32_t rank, int code, std::string_view reason);
  void onSignal(int signal);
  void killLate(double seconds);
  void kill(int signal) const;
  void kill(uint32_t rank, std::string_view message);
  bool anyLeft() const;

  SupervisorParts parts_;
  SupervisorTimes times_;
  sigset_t signals_{}, before_{};
  std::vector<Child> children_;
  int exitCode_ = 0;
  std::optional<double> failedFor_, signalledFor_; ///< seconds since; empty: has not happened
};

} // namespace trainc
