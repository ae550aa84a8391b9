// Collectives over memory that every rank can read.
#pragma once

#include "runtime/comm/communicator.h"
#include "runtime/comm/local/rendezvous.h"
#include "runtime/comm/local/shared_memory.h"
#include "runtime/comm/parts.h"
#include "runtime/comm/tree_sum.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainc {

/// One rank's side of the collectives: it reads peers' memory and writes its own alone, between barriers.
/// Allocates when made, not when running.
class LocalCollectives {
public:
  LocalCollectives(const SharedMemory &memory, uint32_t rank, double timeoutSeconds);

  /// Runs one to its end; false when the group has failed.
  bool run(const Collective &collective);

private:
  using Range = ByteRange;

  bool meet(const Collective &collective);
  uint64_t offset(const void *pointer) const;
  bool sameAsFirst() const;
  bool move(const Collective &collective);
  Range part(const Collective &collective, uint32_t place) const {
    return partOf(collective, members_.count, place);
  }
  void sum(Range range, std::byte *out);
  void copy(std::byte *to, const std::byte *from, uint64_t bytes);
  void gatherSums(const Collective &collective);
  void gatherSources(const Collective &collective);
  uint32_t place() const { return members_.placeOf(rank_); }
  const std::byte *source(uint32_t place) const;
  const std::byte *destination(uint32_t place) const;
  void noteProgress();

  const SharedMemory &memory_;
  uint32_t rank_;
  Rendezvous rendezvous_;
  TreeSum treeSum_;
  std::vector<const float *> inputs_;
  Members members_{}; ///< of the current collective
};

} // namespace trainc
