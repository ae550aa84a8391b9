// Buffers that have their places in an arena, and gaps between them.
#pragma once

#include "lib/Memory/ArenaLayout.h"

#include <limits>
#include <utility>
#include <vector>

namespace trainc {

/// A buffer at its place.
struct Placed {
  int64_t begin, end; ///< bytes
  Interval life, again;
  unsigned number; ///< tells it from others of the arena

  bool operator<(const Placed &other) const {
    return std::pair(begin, number) < std::pair(other.begin, other.number);
  }
};

/// The buffers of an arena that have places, in their order. There are thousands, and all are asked for each
/// one that gets its place. So what they are asked for stands side by side, for the processor to compare
/// several at once.
class ArenaPlaces {
public:
  /// A buffer whose positions are numbers of 32 bits.
  void insert(const Placed &buffer);
  /// One that was inserted.
  void erase(const Placed &buffer);

  /// The lowest offset at which so many bytes fit beside those that live at the same time. If it is not among
  /// the first `most` bytes, some offset with which they end behind those.
  int64_t lowestGap(const Lifetime &lifetime, int64_t bytes,
                    int64_t most = std::numeric_limits<int64_t>::max()) const;

private:
  static constexpr size_t kAtOnce = 16; ///< are compared

  /// From when until when they live. Behind the last one stand some that never do.
  struct Intervals {
    std::vector<int32_t> firsts = std::vector<int32_t>(kAtOnce, std::numeric_limits<int32_t>::max());
    std::vector<int32_t> lasts = std::vector<int32_t>(kAtOnce, -1);

    void insert(size_t at, const Interval &interval);
    void erase(size_t at);
  };

  size_t positionOf(const Placed &buffer) const;

  std::vector<int64_t> begins_, ends_;
  std::vector<unsigned> numbers_;
  Intervals lives_, agains_;
};

} // namespace trainc
