#include "tools/trainrun/supervisor.h"

#include "base/clock.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace trainc {

namespace {

/// Maximum time between two checks of the timeouts. A signal, such as SIGCHLD, causes a check earlier.
constexpr long kPollNanoseconds = 50'000'000;
constexpr double kPollSeconds = kPollNanoseconds * 1e-9;

/// "signal 9 (Killed)".
std::string describeSignal(int signal) { return fmt::format("signal {} ({})", signal, ::strsignal(signal)); }

/// Whether `signal` is SIGHUP and this process ignores it, for example under nohup. sigtimedwait receives
/// even ignored signals.
bool isIgnoredHangup(int signal) {
  struct sigaction action{};
  return signal == SIGHUP && sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

void advance(std::optional<double> &time, double seconds) {
  if (time)
    *time += seconds;
}

} // namespace

Result<int> Supervisor::run() {
  sigemptyset(&signals_);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGCHLD})
    if (!isIgnoredHangup(signal))
      sigaddset(&signals_, signal);
  // watch() receives the blocked signals, also those that arrive before the children start.
  sigprocmask(SIG_BLOCK, &signals_, &previousMask_);
  Status status = start();
  if (!status.ok())
    kill(SIGKILL);
  watch();
  sigprocmask(SIG_SETMASK, &previousMask_, nullptr);
  if (!status.ok())
    return status;
  return exitCode_;
}

Status Supervisor::start() {
  const pid_t parent = ::getpid();
  children_.reserve(ranks_.count);
  for (uint32_t rank = 0; rank < ranks_.count; ++rank) {
    const pid_t child = ::fork();
    if (child < 0)
      return trainc::failed("cannot start rank {} of {}: {}; allow more processes (ulimit -u)", rank,
                            ranks_.count, std::strerror(errno));
    if (child == 0)
      runRank(rank, parent);
    children_.push_back({.pid = child});
  }
  return {};
}

void Supervisor::runRank(uint32_t rank, pid_t parent) const {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) // the parent died before the death signal was set
    ::_exit(1);
  sigprocmask(SIG_SETMASK, &previousMask_, nullptr);
  const int code = ranks_.run(rank);
  (void)std::fflush(nullptr);
  ::_exit(code);
}

void Supervisor::watch() {
  const timespec timeout{.tv_sec = 0, .tv_nsec = kPollNanoseconds};
  for (double before = steadySeconds(); anyLeft();) {
    const int signal = sigtimedwait(&signals_, nullptr, &timeout);
    if (signal > 0 && signal != SIGCHLD)
      onSignal(signal);
    collect();
    const double now = steadySeconds();
    // A longer interval means that this process was stopped, too; such time does not count.
    killLate(std::min(now - before, 2 * kPollSeconds));
    before = now;
  }
}

void Supervisor::collect() {
  for (uint32_t rank = 0; rank < children_.size(); ++rank) {
    int status = 0;
    while (children_[rank].pid > 0 &&
           ::waitpid(children_[rank].pid, &status, WNOHANG | WUNTRACED | WCONTINUED) > 0)
      onStatus(rank, status);
  }
}

void Supervisor::onStatus(uint32_t rank, int status) {
  Child &child = children_[rank];
  child.stopped = WIFSTOPPED(status);
  child.stoppedFor = 0;
  if (WIFEXITED(status) || WIFSIGNALED(status))
    ended(rank, status);
}

void Supervisor::ended(uint32_t rank, int status) {
  children_[rank].pid = -1;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return;
  if (WIFEXITED(status)) { // the rank has reported the reason
    recordFailure(rank, WEXITSTATUS(status), fmt::format("it ended with exit code {}", WEXITSTATUS(status)));
    return;
  }
  const std::string reason = fmt::format("was killed by {}", describeSignal(WTERMSIG(status)));
  // Deaths after another rank's failure or after a signal are expected, and are not reported.
  if (!failedFor_ && !signalledFor_)
    ranks_.report(
        fmt::format("rank {} {}{}; the job ends", rank, reason,
                    WTERMSIG(status) == SIGKILL ? ", by another process or because memory ran out" : ""));
  recordFailure(rank, 128 + WTERMSIG(status), "it " + reason);
}

void Supervisor::recordFailure(uint32_t rank, int code, std::string_view reason) {
  ranks_.fail(rank, reason);
  // An input error (2) of one rank makes the others fail (1), possibly earlier; report the input error.
  if (exitCode_ == kExitDone || (exitCode_ == kExitFailed && code == kExitUsage))
    exitCode_ = code;
  if (!failedFor_)
    failedFor_ = 0;
}

void Supervisor::onSignal(int signal) {
  if (!signalledFor_) {
    signalledFor_ = 0;
    kill(signal);
  } else if (*signalledFor_ >= times_.sameSignal && signal != SIGHUP) {
    kill(SIGKILL);
  }
}

void Supervisor::killLate(double seconds) {
  advance(failedFor_, seconds);
  advance(signalledFor_, seconds);
  for (uint32_t rank = 0; rank < children_.size(); ++rank) {
    Child &child = children_[rank];
    if (child.pid < 0 || !child.stopped)
      continue;
    child.stoppedFor += seconds;
    if (child.stoppedFor >= times_.stopped)
      kill(rank, "was stopped");
  }
  if (failedFor_ && *failedFor_ >= times_.others)
    kill(SIGKILL);
}

/// Signals all remaining ranks.
void Supervisor::kill(int signal) const {
  for (const Child &child : children_)
    if (child.pid > 0)
      ::kill(child.pid, signal);
}

/// Kills one rank, records it as failed, and reports `message` unless another rank failed before.
void Supervisor::kill(uint32_t rank, std::string_view message) {
  if (!failedFor_)
    ranks_.report(fmt::format("rank {} {}; the job ends", rank, message));
  recordFailure(rank, 128 + SIGKILL, fmt::format("it {}", message));
  ::kill(children_[rank].pid, SIGKILL);
}

bool Supervisor::anyLeft() const {
  return std::ranges::any_of(children_, [](const Child &child) { return child.pid > 0; });
}

} // namespace trainc
