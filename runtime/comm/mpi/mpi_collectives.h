// Collectives as point-to-point messages.
#pragma once

#include "runtime/comm/communicator.h"
#include "runtime/comm/mpi/exchange.h"
#include "runtime/comm/parts.h"
#include "runtime/comm/tree_sum.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace trainc {

/// One rank's side of the collectives. A sum is an all-to-all followed by a sum over the tree of tree_sum.h
/// on the receiving rank, because the summation order of MPI_Reduce is unspecified. Shares are sent in pieces
/// of one size: many small ranges together, a large tensor in several rounds. Only for the thread that calls
/// MPI.
class MpiCollectives {
public:
  MpiCollectives(const MpiJob &job, const Mesh &mesh, MpiPeers &peers);

  /// Runs a collective to its end; returns false if a rank has failed.
  bool run(const Collective &collective);
  /// Bytes sent to other ranks so far. Thread-safe.
  uint64_t bytesSent() const { return exchange_.bytesSent(); }

private:
  bool move(const Collective &collective);
  bool reduceScatter(const Collective &collective);
  void sum(const Collective &collective, uint64_t round);
  void keepOwn(const Collective &collective);
  bool allGather(const Collective &collective);
  bool barrier();
  Share share(const Collective &collective, uint32_t place) const {
    return {collective, members_.count, place};
  }
  /// Part of each share that one round sends, and the number of rounds.
  Window window(uint64_t round) const { return {round * pieceBytes_, (round + 1) * pieceBytes_}; }
  uint64_t rounds(const Share &share) const { return (share.bytes() + pieceBytes_ - 1) / pieceBytes_; }
  std::byte *staging(uint64_t round, uint32_t place);
  uint32_t place() const { return members_.placeOf(rank_); }

  uint32_t rank_;
  const Mesh &mesh_;
  uint64_t pieceBytes_;
  MpiExchange exchange_;
  TreeSum treeSum_;
  std::vector<const std::byte *> inputs_;
  std::unique_ptr<std::byte[]>
      staging_;       ///< pieces received from peers for the sums of this rank; two from each
  Members members_{}; ///< group of the current collective
};

} // namespace trainc
