// Static placement of buffers with known lifetimes in one arena.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace trainc {

/// Positions from `first` to `last`, both included; empty if `last` is less than `first`.
struct Interval {
  int64_t first = 0, last = -1;

  bool isEmpty() const { return last < first; }
  bool meets(const Interval &other) const { return first <= other.last && other.first <= last; }
};

/// A buffer that is in use from position `first` to `last`, both included.
struct Lifetime {
  int64_t first, last;
  int64_t bytes;
  int64_t alignment = 1;    ///< alignment of the buffer's offset in bytes, a power of two
  int64_t earliest = first; ///< position at which the lifetime should begin if memory allows; at most `first`
  Interval secondUse = {};  ///< positions at which the buffer should also be in use if memory allows
};

/// Byte offsets, one per lifetime, and the arena's size in bytes.
struct ArenaLayout {
  llvm::SmallVector<int64_t> offsets;
  int64_t bytes = 0;
};

/// Places lifetimes so that buffers in use at the same time do not overlap: larger buffers first, each in the
/// lowest gap that fits ("greedy by size", Pisarchyk and Lee 2020). Each offset is a multiple of `alignment`
/// bytes and of the buffer's own alignment. `earliest` and `secondUse` are ignored. The result depends on the
/// arguments only.
ArenaLayout layOutArena(llvm::ArrayRef<Lifetime> lifetimes, int64_t alignment);

/// A buffer at a fixed offset.
struct PlacedBuffer {
  Interval life;
  int64_t offset, bytes;
};

/// Extends lifetimes towards `earliest`, and then by `secondUse`, as far as an arena of `bytes` bytes with
/// the buffers `others` has space. Updates `first` and `secondUse` of the lifetimes, and their offsets in
/// `layout`. Before the call, `layout` must be the result of layOutArena() and have at most `bytes` bytes.
void spreadInArena(llvm::MutableArrayRef<Lifetime> lifetimes, ArenaLayout &layout, int64_t alignment,
                   int64_t bytes, llvm::ArrayRef<PlacedBuffer> others = {});

} // namespace trainc
