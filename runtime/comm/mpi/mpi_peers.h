// What ranks tell each other beside collectives: that they live, that they have failed, and what their hosts
// exchange.
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

/// The first failure that this rank heard of. For any thread.
class FailureNote {
public:
  /// Later ones change nothing; whether this was the first.
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
  /// Once it is written.
  uint32_t rank() const { return rank_; }
  const std::string &reason() const { return reason_; }

private:
  std::mutex mutex_;
  std::atomic<bool> written_{false};
  uint32_t rank_ = 0;
  std::string reason_;
};

/// The operating system knows at once that a process has died, where messages only stop coming, and before
/// mpirun has ended the others. (Ranks of comm/local have trainrun watch them, or a launcher that gives them
/// time.) For the thread that calls MPI.
class ProcessWatch {
public:
  /// All ranks make theirs together.
  explicit ProcessWatch(const MpiJob &job);
  ProcessWatch(const ProcessWatch &) = delete;
  ProcessWatch &operator=(const ProcessWatch &) = delete;
  ~ProcessWatch();

  /// False, too, where this cannot be known: of another host's rank, or on a kernel that does not tell.
  bool hasEnded(uint32_t rank) const;

private:
  std::vector<int> processes_; ///< a descriptor of each, or -1
};

/// One rank's view of the others. fail(), hasFailed(), failure() and noteProgress() are for any thread, the
/// rest for the one that calls MPI, which has to call service() some times a second.
class MpiPeers {
public:
  /// All ranks make theirs together. `timeoutSeconds`: how long a rank that is waited for may make no
  /// progress.
  MpiPeers(const MpiJob &job, double timeoutSeconds);

  /// Ends what all ranks wait for. The first failure that a rank hears of counts for it. A long reason is
  /// cut.
  void fail(uint32_t rank, std::string_view reason);
  bool hasFailed() const { return failure_.isWritten(); }
  /// failureText() once a rank has failed.
  std::string failure() const { return failureText(failure_.rank(), failure_.reason()); }
  void noteProgress() { progress_.fetch_add(1, std::memory_order_relaxed); }
  /// What hosts exchange, which service() takes further.
  MpiHosts &hosts() { return hosts_; }

  /// Hears what peers tell, and tells them what there is to tell.
  void service();
  /// A wait for others begins.
  void beginWait();
  /// Tells peers that this rank lives but waits, and looks for one to blame that it takes so long, of those
  /// that have something outstanding, there or in the hosts' exchange; that one is failed. Call it often, and
  /// after service(): who has told why it ends is not to be blamed for its end.
  void noteWait(const std::function<bool(uint32_t rank)> &isMissing);
  /// The same where this rank waits for all others by other means.
  void noteWaitElsewhere();
  /// Tells peers that this rank exchanges nothing more.
  void noteLeft() { left_ = 1; }
  /// After a failure: gives all peers a moment to hear of it, before this process ends and the launcher ends
  /// theirs.
  void lingerAfterFailure();
  /// Before the end of MPI; after it nothing is heard or told.
  void close();

private:
  struct Message {
    uint32_t isFailure, rank, progress, waits;
    uint32_t left, exchanges;     ///< whether the rank exchanges nothing more, and how often it did
    std::array<char, 240> reason; ///< ends with a zero
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
  std::atomic<bool> ownFailure_{false}; ///< the failure is for this rank to spread
  bool told_ = false;                   ///< and it does
  std::atomic<uint32_t> progress_{0};
  uint32_t waits_ = 0; ///< changes while this rank waits
  uint32_t left_ = 0;
  double lastBeat_ = 0, lastLook_ = 0; ///< when peers were told of this rank's life, and looked at
  uint32_t toldProgress_ = 0, toldWaits_ = 0;
  struct Peer {
    uint32_t progress = 0, waits = 0, left = 0, exchanges = 0; ///< what it told last
  };
  std::vector<Peer> heard_; ///< by rank
  Message incoming_{};
  MPI_Request listening_ = MPI_REQUEST_NULL;
  std::vector<Outgoing> beats_, failures_; ///< by rank
  StallWatch peers_;                       ///< each rank by itself
  StallWatch everyone_;                    ///< all ranks as one
};

} // namespace trainc
