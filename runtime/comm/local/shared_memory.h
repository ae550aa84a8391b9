// What the ranks of one host share: a control block and each rank's memory.
#pragma once

#include "runtime/base/descriptor.h"
#include "runtime/base/status.h"
#include "runtime/comm/communicator.h"
#include "runtime/comm/grid.h"
#include "runtime/comm/host_message.h"
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

/// Where ranks meet: who they are, at which barrier, and which of RankState::arrived counts how often each
/// was there.
struct Meeting {
  Members members;
  uint32_t barrier;
  size_t counter;
};

/// What one rank writes and the others read.
struct alignas(64) RankState {
  /// Barriers at which the rank waits or that it has opened: for collectives, by group, and for hosts.
  std::array<std::atomic<uint32_t>, size_t(fb::Group::MAX) + 2> arrived{};
  std::atomic<uint32_t> progress{0}; ///< changes while the rank is at work
  std::atomic<uint32_t> waits{0};    ///< changes while the rank waits for others
  std::atomic<bool> left{false};     ///< the rank starts nothing more
  Posting posted;                    ///< of the rank's current collective
  std::array<HostMessage, 2> told;   ///< by turns
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

/// A control block, and memory of each rank, in a file in memory: for threads, for processes that are forked
/// after its making, and for those that get its descriptor. It has no name, so none of it stays when the last
/// process ends. Each rank has a view of its own, in which it can write to its own memory alone.
class SharedMemory {
public:
  /// Makes the file. Fails (kInvalidInput) without ranks or where shard groups do not divide them, (kFailed)
  /// when there is no such amount of memory.
  static Result<std::shared_ptr<SharedMemory>> create(Grid grid, uint64_t bytesPerRank);
  /// What another process created, from the same arguments. Fails (kFailed) where `file` is not that.
  static Result<std::shared_ptr<SharedMemory>> attach(Descriptor file, Grid grid, uint64_t bytesPerRank);
  /// The same for one rank, which sees all memory(): it can write to its own, and read that of others.
  Result<std::shared_ptr<SharedMemory>> viewOf(uint32_t rank) const;

  SharedMemory(const SharedMemory &) = delete;
  SharedMemory &operator=(const SharedMemory &) = delete;
  ~SharedMemory();

  /// For processes that attach().
  int descriptor() const { return file_->get(); }
  const Grid &grid() const { return layout_.grid; }
  uint32_t ranks() const { return layout_.grid.ranks; }
  uint64_t bytesPerRank() const { return layout_.rankBytes; }
  ControlBlock &control() const { return *reinterpret_cast<ControlBlock *>(base_); }
  RankState &state(uint32_t rank) const {
    return reinterpret_cast<RankState *>(base_ + sizeof(ControlBlock))[rank];
  }
  /// Where `rank` meets the others of a group for collectives.
  Meeting meeting(fb::Group group, uint32_t rank) const {
    return {grid().members(group, rank), grid().setOf(group, rank), static_cast<size_t>(group)};
  }
  /// Where all ranks' hosts meet.
  Meeting hosts() const { return {{0, 1, ranks()}, grid().sets(), size_t(fb::Group::MAX) + 1}; }
  /// One for each set of a Grid, and one for hosts.
  uint32_t barriers() const { return grid().sets() + 1; }
  Barrier &barrier(uint32_t index) const { return reinterpret_cast<Barrier *>(&state(ranks()))[index]; }
  /// Of a rank's view: the first of a rank's bytesPerRank() bytes, on a page of its own, between two
  /// inaccessible ones.
  std::byte *memory(uint32_t rank) const { return base_ + layout_.inView(rank); }

  /// Makes every rank's waits fail, and wakes them. Later failures change nothing. A long reason is cut.
  void fail(uint32_t rank, std::string_view reason) const;
  bool hasFailed() const { return control().published.load(std::memory_order_acquire) != 0; }
  /// failureText() once the group has failed.
  std::string failure() const;

private:
  /// Where things lie, in whole pages: in the file one after the other, in a view with a guard before each
  /// rank.
  struct Layout {
    Grid grid;
    uint64_t guardBytes, controlBytes, rankBytes;

    static Result<Layout> of(Grid grid, uint64_t bytesPerRank);
    uint64_t inFile(uint32_t rank) const { return controlBytes + rank * rankBytes; }
    uint64_t inView(uint32_t rank) const {
      return controlBytes + guardBytes + rank * (rankBytes + guardBytes);
    }
    uint64_t fileBytes() const { return inFile(grid.ranks); }
    uint64_t viewBytes() const { return inView(grid.ranks); }
  };

  SharedMemory(std::shared_ptr<const Descriptor> file, const Layout &layout, std::byte *base, uint64_t bytes)
      : file_(std::move(file)), layout_(layout), base_(base), bytes_(bytes) {}
  static Result<std::shared_ptr<SharedMemory>> reserve(std::shared_ptr<const Descriptor> file,
                                                       const Layout &layout, uint64_t bytes);
  bool map(uint64_t inView, uint64_t inFile, uint64_t bytes, bool writable) const;
  void initialise() const;

  std::shared_ptr<const Descriptor> file_;
  Layout layout_;
  std::byte *base_;
  uint64_t bytes_; ///< of the view: of the control block alone where it is nobody's
};

} // namespace trainc
