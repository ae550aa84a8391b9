// Messages of one collective.
#pragma once

#include "runtime/comm/communicator.h"
#include "runtime/comm/grid.h"
#include "runtime/comm/mpi/job.h"
#include "runtime/comm/mpi/mpi_peers.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

namespace trainc {

/// Sends and receives among the members of a group, in rounds, of which two may be under way. A rank may be
/// in the one exchange while its peers are in the next. For the thread that calls MPI.
class Exchange {
public:
  Exchange(const MpiJob &job, MpiPeers &peers);

  /// A collective begins; false when a rank has failed. The first of the members tells the others what it has
  /// started.
  bool open(const Collective &collective, Members members);
  /// Waits until this rank knows that it has started the same as the first; where not, it is failed. finish()
  /// does this too, once there is something to overlap it with.
  bool agreed();

  /// In a round, to each place what it receives, in the same order.
  void send(uint64_t round, uint32_t place, const std::byte *data, uint64_t bytes);
  void receive(uint64_t round, uint32_t place, std::byte *data, uint64_t bytes);
  /// A message of no bytes both ways.
  void meet(uint64_t round, uint32_t place);
  /// Waits until the round's messages have left and come; false when a rank has failed.
  bool finish(uint64_t round);
  /// Handed to send() so far; for any thread.
  uint64_t bytesSent() const { return sent_.load(std::memory_order_relaxed); }

private:
  /// Messages under way, and the places that they come from or go to. Grows to what the largest collective
  /// needs.
  struct Requests {
    std::vector<MPI_Request> pending;
    std::vector<uint32_t> places;

    MPI_Request *add(uint32_t place) {
      places.push_back(place);
      return &pending.emplace_back(MPI_REQUEST_NULL);
    }
    void clear() {
      pending.clear();
      places.clear();
    }
  };

  bool finish(Requests &requests);
  bool isMissing(const Requests &requests, uint32_t rank) const;
  int rankAt(uint32_t place) const { return static_cast<int>(members_.rankAt(place)); }
  bool check(int code);

  const MpiJob &job_;
  MpiPeers &peers_;
  Members members_{};
  int tag_ = 0;
  Outline mine_, first_;
  Requests postings_;
  std::array<Requests, 2> rounds_; ///< by turns
  std::vector<int> done_;          ///< where MPI says what is done
  std::atomic<uint64_t> sent_{0};
};

} // namespace trainc
