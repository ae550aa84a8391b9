// Collectives over memory that every rank can read.
#pragma once

#include "runtime/comm/communicator.h"
#include "runtime/comm/local/rendezvous.h"
#include "runtime/comm/local/shared_memory.h"
#include "runtime/comm/parts.h"
#include "runtime/comm/tree_sum.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace trainc {

/// One rank's side of the collectives. Reads the memory of all ranks, writes only its own, and synchronises
/// by barriers. Allocates only on construction.
class LocalCollectives {
public:
  LocalCollectives(const SharedMemory &memory, uint32_t rank, double timeoutSeconds);

  /// Runs a collective to its end; calls onMet() when all ranks have begun it. Returns false if the group has
  /// failed.
  template <typename OnMet> bool run(const Collective &collective, OnMet onMet) {
    if (!meet(collective))
      return false;
    onMet();
    return complete(collective);
  }
  /// Bytes read from other ranks' memory so far. Thread-safe.
  uint64_t bytesTaken() const { return taken_.load(std::memory_order_relaxed); }

private:
  bool meet(const Collective &collective);
  bool complete(const Collective &collective);
  void post(const Collective &collective);
  uint64_t offset(DeviceAddress address) const;
  std::optional<size_t> firstDifference(const Collective &collective) const;
  bool sameAsFirst(const Collective &collective, size_t range) const;
  bool move(const Collective &collective);
  Share share(const Collective &collective, uint32_t place) const {
    return {collective, meeting_.members.count, place};
  }
  void sumShare(const Collective &collective);
  void sum(const Stretch &stretch, const CollectiveRange &range);
  void copy(std::byte *to, uint32_t place, const std::byte *from, uint64_t bytes);
  void gatherSums(const Collective &collective);
  void gatherSources(const Collective &collective);
  uint32_t place() const { return meeting_.members.placeOf(rank_); }
  const Posting &posted(uint32_t place) const { return memory_.state(meeting_.members.rankAt(place)).posted; }
  const std::byte *source(uint32_t place, uint32_t range) const;
  const std::byte *destination(uint32_t place, uint32_t range) const;
  void noteTaken(uint32_t place, uint64_t bytes);
  void noteProgress();

  const SharedMemory &memory_;
  uint32_t rank_;
  Rendezvous rendezvous_;
  TreeSum treeSum_;
  std::vector<const std::byte *> inputs_;
  Meeting meeting_{}; ///< for the current collective
  std::atomic<uint64_t> taken_{0};
};

} // namespace trainc
