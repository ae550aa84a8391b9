// Placed buffers of an arena, and the gaps between them.
#pragma once

#include "lib/Memory/ArenaLayout.h"

#include <limits>
#include <utility>
#include <vector>

namespace trainc {

/// A placed buffer.
struct Placed {
  int64_t begin, end; ///< byte range
  Interval life, secondUse;
  unsigned number; ///< unique in the arena

  bool operator<(const Placed &other) const {
    return std::pair(begin, number) < std::pair(other.begin, other.number);
  }
};

/// The placed buffers of an arena, ordered by offset. An arena has thousands, and every placement examines
/// all of them. Their fields are therefore in separate arrays, so that the compiler can vectorise
/// comparisons.
class ArenaPlaces {
public:
  /// Adds a buffer. Its positions must fit 32 bits.
  void insert(const Placed &buffer);
  /// Removes a buffer that was inserted.
  void erase(const Placed &buffer);

  /// Returns the lowest offset at which `bytes` bytes fit beside all buffers in use at the same time. If the
  /// buffer would end after `maximum` at every such offset, returns some offset at which it ends after
  /// `maximum`.
  int64_t lowestGap(const Lifetime &lifetime, int64_t bytes,
                    int64_t maximum = std::numeric_limits<int64_t>::max()) const;

private:
  static constexpr size_t kAtOnce = 16; ///< number of buffers compared at a time

  /// Begin and end positions of lifetimes, padded at the end with empty ones.
  struct Intervals {
    std::vector<int32_t> firsts = std::vector<int32_t>(kAtOnce, std::numeric_limits<int32_t>::max());
    std::vector<int32_t> lasts = std::vector<int32_t>(kAtOnce, -1);

    void insert(size_t at, const Interval &interval);
    void erase(size_t at);
  };

  size_t positionOf(const Placed &buffer) const;

  std::vector<int64_t> begins_, ends_;
  std::vector<unsigned> numbers_;
  Intervals lives_, secondUses_;
  size_t livingTwice_ = 0; ///< number of buffers with a second interval of use
};

} // namespace trainc
