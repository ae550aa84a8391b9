// Messages between ranks beside collectives: heartbeats, failures and host exchanges.
#pragma once

#include "runtime/comm/mpi/job.h"
#include "runtime/comm/mpi/mpi_hosts.h"
#include "runtime/comm/stall_watch.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// The first failure that this rank learned of. Thread-safe.
class FailureNote {
public:
  /// Stores the failure unless one is stored; returns whether it was the first.
  bool write(uint32_t rank, std::string_view reason) {
    const std::scoped_lock lock(mutex_);
    if (isWritten())
      return false;
    rank_ = rank;
    reason_ = reason;
    written_.store(true, std::memory_order_release);
    return true;
  }

  bool isWritten() const { return written_.load(std::memory_order_acquire); }
  /// Valid once a failure is stored.
  uint32_t rank() const { return rank_; }
  const std::string &reason() const { return reason_; }

private:
  std::mutex mutex_;
  std::atomic<bool> written_{false};
  uint32_t rank_ = 0;
  std::string reason_;
};

/// Detects the death of processes on this host through the operating system: at once, and before mpirun ends
/// the other ranks, whereas messages merely stop arriving. (Ranks of comm/local are watched by trainrun or by
/// their launcher.) Only for the thread that calls MPI.
class ProcessWatch {
public:
  /// Collective: all ranks construct theirs together.
  explicit ProcessWatch(const MpiJob &job);
  ProcessWatch(const ProcessWatch &) = delete;
  ProcessWatch &operator=(const ProcessWatch &) = delete;
  ~ProcessWatch();

  /// Whether the rank's process has ended. False also if unknown: for ranks of other hosts, or kernels
  /// without pidfds.
  bool hasEnded(uint32_t rank) const;

private:
  std::vector<int> processes_; ///< a pidfd of each rank, or -1
};

/// One rank's view of the others. fail(), hasFailed(), failure() and noteProgress() are thread-safe; the rest
/// is for the thread that calls MPI, which must call service() several times a second.
class MpiPeers {
public:
  /// Collective: all ranks construct theirs together. `timeoutSeconds` bounds the time without progress of a
  /// rank that others wait for.
  MpiPeers(const MpiJob &job, double timeoutSeconds);

  /// Ends the waits of all ranks. On each rank the first failure it learns of wins. A long reason is
  /// truncated.
  void fail(uint32_t rank, std::string_view reason);
  bool hasFailed() const { return failure_.isWritten(); }
  /// failureText() of the stored failure.
  std::string failure() const { return failureText(failure_.rank(), failure_.reason()); }
  void noteProgress() { progress_.fetch_add(1, std::memory_order_relaxed); }
  /// The host exchange, which service() drives.
  MpiHosts &hosts() { return hosts_; }

  /// Receives messages of peers and sends those that are due.
  void service();
  /// Begins a wait for other ranks.
  void beginWait();
  /// Reports to peers that this rank is alive but waits, and fails the rank at fault for a long wait: one
  /// with outstanding messages in the collective (`isMissing`) or in the host exchange. Call it often, after
  /// service(), so that a rank that has reported why it ends is not blamed for ending.
  void noteWait(const std::function<bool(uint32_t rank)> &isMissing);
  /// Like noteWait(), if this rank waits for all others by other means.
  void noteWaitElsewhere();
  /// Reports to peers that this rank starts no more exchanges.
  void noteLeft() { left_ = 1; }
  /// After a failure: gives peers a moment to receive the reason before this process ends and the launcher
  /// ends theirs.
  void lingerAfterFailure();
  /// Ends all communication; call it before MPI is finalised.
  void close();

private:
  struct Message {
    uint32_t isFailure, rank, progress, waits;
    uint32_t left, exchanges;     ///< whether the rank has ended its exchanges, and their number
    std::array<char, 240> reason; ///< zero-terminated
  };
  struct Outgoing {
    Message message{};
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void listen();
  void hear(uint32_t sender);
  void send(Outgoing &out, uint32_t to);
  void tellFailure();
  void tellLife(double now);
  void serviceHosts();
  bool hasLeft(uint32_t peer) const;
  std::optional<double> secondsSinceLook();
  bool isGone(uint32_t peer, double seconds);
  bool everyoneWaits(double seconds);

  const MpiJob &job_;
  double timeout_, beatSeconds_;
  ProcessWatch processes_;
  MpiHosts hosts_;
  FailureNote failure_;
  std::atomic<bool> ownFailure_{false}; ///< this rank has to send the failure to its peers
  bool told_ = false;                   ///< the failure was sent
  std::atomic<uint32_t> progress_{0};
  uint32_t waits_ = 0; ///< changes while this rank waits
  uint32_t left_ = 0;
  double lastBeat_ = 0, lastLook_ = 0; ///< times of the last heartbeat and of the last check of the peers
  uint32_t toldProgress_ = 0, toldWaits_ = 0;
  struct Peer {
    uint32_t progress = 0, waits = 0, left = 0, exchanges = 0; ///< last reported values
  };
  std::vector<Peer> heard_; ///< by rank
  Message incoming_{};
  MPI_Request listening_ = MPI_REQUEST_NULL;
  std::vector<Outgoing> beats_, failures_; ///< by rank
  StallWatch peers_;                       ///< progress of each rank
  StallWatch everyone_;                    ///< progress of all ranks together
};

} // namespace trainc
