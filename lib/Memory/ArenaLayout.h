// Static placement of buffers with known lifetimes in one arena.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace trainc {

/// A buffer that is in use from position `first` to position `last`, both included.
struct Lifetime {
  int64_t first, last;
  int64_t bytes;
  int64_t alignment = 1;        ///< of where it begins, in bytes, a power of two
  int64_t earliest = INT64_MAX; ///< where it should begin, if it may before `first`

  bool maySpread() const { return earliest < first; }
};

/// Byte offsets, one per lifetime, and the arena's size.
struct ArenaLayout {
  llvm::SmallVector<int64_t> offsets;
  int64_t bytes = 0;
};

/// Places lifetimes so that those that overlap in time do not overlap in space: larger buffers first, each in
/// the lowest gap that fits ("greedy by size", Pisarchyk and Lee 2020). Each starts on a multiple of
/// `alignment` bytes, and of its own. The result depends on the arguments only.
ArenaLayout layOutArena(llvm::ArrayRef<Lifetime> lifetimes, int64_t alignment);

/// Places them within so many bytes, so that those that may begin earlier do, as far as there is room: sets
/// their `first`. They begin in their order. Nothing if no place is found for one; then they are as they
/// were.
std::optional<ArenaLayout> spreadInArena(llvm::MutableArrayRef<Lifetime> lifetimes, int64_t alignment,
                                         int64_t bytes);

} // namespace trainc
