// Collectives over buffers that every rank can read.
#pragma once

#include "runtime/comm/communicator.h"
#include "runtime/comm/local/rendezvous.h"
#include "runtime/comm/local/shared_memory.h"
#include "runtime/comm/tree_sum.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trainc {

/// One rank's side of the collectives: it reads peers' buffers and writes its own alone, between barriers.
/// Allocates when made, not when running.
class LocalCollectives {
public:
  LocalCollectives(const SharedMemory &memory, uint32_t rank, double timeoutSeconds);

  /// Runs one to its end; false when the group has failed.
  bool run(const Collective &collective);

private:
  /// A range of the buffer, in bytes.
  struct Range {
    uint64_t begin, end;
  };

  bool meet(const Collective &collective);
  bool move(const Collective &collective);
  Range part(const Collective &collective, uint32_t rank) const;
  void sum(Range range);
  void copy(uint32_t peer, Range range);
  void copyParts(const Collective &collective);
  std::byte *buffer(uint32_t rank) const { return memory_.memory(rank) + offset_; }
  void noteProgress();

  const SharedMemory &memory_;
  uint32_t rank_;
  Rendezvous rendezvous_;
  TreeSum treeSum_;
  std::vector<const float *> inputs_;
  uint64_t offset_ = 0; ///< of the current buffer, the same in every rank's memory
  uint32_t turn_ = 0;   ///< which of the rank's two postings is the current one
};

} // namespace trainc
