// Point-to-point messages of one collective.
#pragma once

#include "runtime/comm/communicator.h"
#include "runtime/comm/mpi/job.h"
#include "runtime/comm/mpi/mpi_peers.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

namespace trainc {

/// Sends and receives among the members of a group, in rounds; at most two rounds are in flight. A rank may
/// be one exchange ahead of its peers. Only for the thread that calls MPI.
class MpiExchange {
public:
  MpiExchange(const MpiJob &job, const Mesh &mesh, MpiPeers &peers);

  /// Begins a collective; returns false if a rank has failed. The first member sends the others the
  /// fingerprint of its collective.
  bool open(const Collective &collective, Members members);
  /// Waits for the first member's fingerprint and fails this rank if its collective differs. finish() does
  /// the same, once other work can overlap the wait.
  bool agreed();

  /// Within a round, messages to a place are sent in the order in which it receives them.
  void send(uint64_t round, uint32_t place, const std::byte *data, uint64_t bytes);
  void receive(uint64_t round, uint32_t place, std::byte *data, uint64_t bytes);
  /// Exchanges empty messages with a place.
  void meet(uint64_t round, uint32_t place);
  /// Waits until all messages of the round are sent and received; returns false if a rank has failed.
  bool finish(uint64_t round);
  /// Bytes passed to send() so far. Thread-safe.
  uint64_t bytesSent() const { return sent_.load(std::memory_order_relaxed); }

private:
  /// Messages in flight, and the places of their peers. Grows to the size of the largest collective.
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
  const Mesh &mesh_;
  MpiPeers &peers_;
  Members members_{};
  int tag_ = 0;
  CollectiveFingerprint mine_, first_;
  Requests postings_;
  std::array<Requests, 2> rounds_; ///< alternate between rounds
  std::vector<int> done_;          ///< output of MPI: completed requests
  std::atomic<uint64_t> sent_{0};
};

} // namespace trainc
