// What the ranks of one host share: a control block and each rank's memory.
#pragma once

#include "runtime/base/status.h"
#include "runtime/comm/grid.h"
#include "runtime/comm/outline.h"
#include "runtime/plan/collective.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace trainc {

/// What a rank says it has started, for the others to compare and to find.
struct Posting {
  struct Range {
    uint64_t source, destination; ///< where they begin, in the rank's memory
  };

  Outline outline;
  std::array<Range, kMaximumRanges>
      ranges; ///< as many as the outline says; pages that none needs stay unused
};

/// What one rank writes and the others read.
struct alignas(64) RankState {
  /// Barriers at which the rank waits or that it has opened, by group.
  std::array<std::atomic<uint32_t>, size_t(fb::Group::MAX) + 1> arrived{};
  std::atomic<uint32_t> progress{0}; ///< changes while the rank is at work
  std::atomic<uint32_t> waits{0};    ///< changes while the rank waits for others
  std::atomic<bool> left{false};     ///< the rank starts nothing more
  Posting posted;                    ///< of the rank's current collective
};

/// Where the ranks of one set meet.
struct Barrier {
  alignas(64) std::atomic<uint32_t> waiting{0};    ///< ranks that have come to the barrier in progress
  alignas(64) std::atomic<uint32_t> generation{0}; ///< barriers completed; ranks sleep on it
};

/// Why the group cannot go on. The first one published counts.
struct FailureRecord {
  uint32_t rank = 0;
  std::array<char, 252> reason{};
};

struct alignas(64) ControlBlock {
  /// The failure that counts: 1 + the index of its record, or more for a rank without one; 0: none.
  std::atomic<uint32_t> published{0};
  std::atomic<uint32_t> claimed{0}; ///< failure records that somebody fills or has filled
  // Several, so that one who dies over a record does not silence the others.
  std::array<FailureRecord, 8> failures;
};

/// One mapping, shared by threads, by processes that are forked after its making, and by those that get a
/// descriptor. It has no name, so none of it stays when the last process ends.
class SharedMemory {
public:
  /// Fails (kInvalidInput) without ranks or where shard groups do not divide them, (kFailed) when there is no
  /// such amount of memory.
  static Result<std::shared_ptr<SharedMemory>> create(Grid grid, uint64_t bytesPerRank);
  /// The same in a file that nobody has used yet; `descriptor` is that of a memfd and may be closed then.
  static Result<std::shared_ptr<SharedMemory>> createIn(int descriptor, Grid grid, uint64_t bytesPerRank);
  /// What another process created in the file, from the same arguments.
  static Result<std::shared_ptr<SharedMemory>> attach(int descriptor, Grid grid, uint64_t bytesPerRank);

  SharedMemory(const SharedMemory &) = delete;
  SharedMemory &operator=(const SharedMemory &) = delete;
  ~SharedMemory();

  const Grid &grid() const { return grid_; }
  uint32_t ranks() const { return grid_.ranks; }
  uint64_t bytesPerRank() const { return bytesPerRank_; }
  ControlBlock &control() const { return *reinterpret_cast<ControlBlock *>(base_); }
  RankState &state(uint32_t rank) const {
    return reinterpret_cast<RankState *>(base_ + sizeof(ControlBlock))[rank];
  }
  /// Of the set with this number (see Grid).
  Barrier &barrier(uint32_t set) const { return reinterpret_cast<Barrier *>(&state(grid_.ranks))[set]; }
  /// The first of the rank's bytesPerRank() bytes, on a page of its own.
  std::byte *memory(uint32_t rank) const { return base_ + controlBytes_ + rank * bytesPerRank_; }

  /// Makes every rank's waits fail, and wakes them. Later failures change nothing. A long reason is cut.
  void fail(uint32_t rank, std::string_view reason) const;
  bool hasFailed() const { return control().published.load(std::memory_order_acquire) != 0; }
  /// "rank 2 failed: REASON" once the group has failed.
  std::string failure() const;

private:
  SharedMemory(std::byte *base, Grid grid, uint64_t controlBytes, uint64_t bytesPerRank)
      : base_(base), grid_(grid), controlBytes_(controlBytes), bytesPerRank_(bytesPerRank) {}
  static Result<std::shared_ptr<SharedMemory>> map(int descriptor, Grid grid, uint64_t bytesPerRank);
  void initialise() const;

  std::byte *base_;
  Grid grid_;
  uint64_t controlBytes_, bytesPerRank_; ///< whole pages
};

} // namespace trainc
