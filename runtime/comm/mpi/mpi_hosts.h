// What the hosts of ranks tell each other over MPI.
#pragma once

#include "runtime/comm/host_message.h"
#include "runtime/comm/mpi/job.h"

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace trainc {

/// One exchange at a time, beside the collectives. One thread posts it and waits; the one that calls MPI
/// takes it further whenever it calls advance(), also in the middle of a collective.
class MpiHosts {
public:
  explicit MpiHosts(const MpiJob &job)
      : job_(job), told_(job.ranks()), requests_(2 * job.ranks(), MPI_REQUEST_NULL),
        completed_(requests_.size()) {}

  /// For the thread that waits: begins an exchange of `own`.
  void post(std::span<const std::byte> own);
  /// Waits for its end; false when a rank has failed.
  bool wait();
  /// What a rank told, after wait().
  const HostMessage &told(uint32_t rank) const { return told_[rank]; }

  /// For the thread that calls MPI: sends, receives, and ends the wait once all has come. Returns what MPI
  /// says.
  int advance();
  /// Ends the wait, as a rank has failed.
  void abandon();
  bool isUnderWay() const { return state_.load(std::memory_order_acquire) == State::kUnderWay; }
  /// Whether something to or from the rank is outstanding.
  bool isMissing(uint32_t rank) const;
  /// How many exchanges this rank has begun.
  uint32_t begun() const { return begun_; }

private:
  enum class State : uint32_t { kIdle, kPosted, kUnderWay, kDone, kFailed };

  int begin();
  void end(State state);

  const MpiJob &job_;
  std::vector<HostMessage> told_;     ///< by rank
  std::vector<MPI_Request> requests_; ///< from each rank, then to each
  std::vector<int> completed_;        ///< where MPI says which
  uint32_t begun_ = 0;
  std::atomic<State> state_{State::kIdle};
};

} // namespace trainc
