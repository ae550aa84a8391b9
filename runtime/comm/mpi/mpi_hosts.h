// Host exchanges over MPI.
#pragma once

#include "runtime/comm/host_message.h"
#include "runtime/comm/mpi/job.h"

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace trainc {

/// One host exchange at a time, concurrent with collectives. One thread posts it and waits; the thread that
/// calls MPI drives it by advance(), also in the middle of a collective.
class MpiHosts {
public:
  explicit MpiHosts(const MpiJob &job)
      : job_(job), values_(job.ranks()), requests_(2 * job.ranks(), MPI_REQUEST_NULL),
        completed_(requests_.size()) {}

  /// Begins an exchange of `own`. For the waiting thread.
  void post(std::span<const std::byte> own);
  /// Waits for the end of the exchange; returns false if a rank has failed.
  bool wait();
  /// The value of a rank, after wait().
  const HostMessage &value(uint32_t rank) const { return values_[rank]; }

  /// Sends and receives, and ends the wait once all values have arrived. Returns an MPI error code. For the
  /// thread that calls MPI.
  int advance();
  /// Ends the wait because a rank has failed.
  void abandon();
  bool isInFlight() const { return state_.load(std::memory_order_acquire) == State::kInFlight; }
  /// Whether a message to or from the rank is outstanding.
  bool isMissing(uint32_t rank) const;
  /// Number of exchanges this rank has begun.
  uint32_t begun() const { return begun_; }

private:
  enum class State : uint32_t { kIdle, kPosted, kInFlight, kDone, kFailed };

  int begin();
  void end(State state);

  const MpiJob &job_;
  std::vector<HostMessage> values_;   ///< by rank
  std::vector<MPI_Request> requests_; ///< one receive from each rank, then one send to each
  std::vector<int> completed_;        ///< output of MPI: indices of completed requests
  uint32_t begun_ = 0;
  std::atomic<State> state_{State::kIdle};
};

} // namespace trainc
