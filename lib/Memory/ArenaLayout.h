// Static placement of buffers with known lifetimes in one arena.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace trainc {

/// From position `first` to `last`, both included; none if `last` is less.
struct Interval {
  int64_t first = 0, last = -1;

  bool isEmpty() const { return last < first; }
  bool meets(const Interval &other) const { return first <= other.last && other.first <= last; }
};

/// A buffer that is in use from position `first` to `last`, both included.
struct Lifetime {
  int64_t first, last;
  int64_t bytes;
  int64_t alignment = 1;    ///< of where it begins, in bytes, a power of two
  int64_t earliest = first; ///< where it should begin, not behind `first`
  Interval again = {};      ///< when it should be in use as well
};

/// Byte offsets, one per lifetime, and the arena's size.
struct ArenaLayout {
  llvm::SmallVector<int64_t> offsets;
  int64_t bytes = 0;
};

/// Places lifetimes so that those that overlap in time do not overlap in space: larger buffers first, each in
/// the lowest gap that fits ("greedy by size", Pisarchyk and Lee 2020). Each starts on a multiple of
/// `alignment` bytes, and of its own. `earliest` and `again` do not matter. The result depends on the
/// arguments only.
ArenaLayout layOutArena(llvm::ArrayRef<Lifetime> lifetimes, int64_t alignment);

/// A buffer that has its place.
struct PlacedBuffer {
  Interval life;
  int64_t offset, bytes;
};

/// Has those begin earlier that should, and then those in use again, as far as there is room among so many
/// bytes and beside `others`: sets their `first` and `again`, and moves them. `layout` is that of
/// layOutArena(), with at most these bytes.
void spreadInArena(llvm::MutableArrayRef<Lifetime> lifetimes, ArenaLayout &layout, int64_t alignment,
                   int64_t bytes, llvm::ArrayRef<PlacedBuffer> others = {});

} // namespace trainc
