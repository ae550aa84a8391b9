// Partition of a collective's ranges into shares of ranks; common to all engines.
#pragma once

#include "plan/facts/dtype.h"
#include "runtime/comm/communicator.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace trainc {

inline constexpr uint64_t kCacheLine = 64;

inline uint64_t wholeLines(uint64_t bytes) { return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine; }

/// Bytes [begin, end) of a share.
struct Window {
  uint64_t begin, end;
};

/// A contiguous piece of one of a collective's ranges.
struct Stretch {
  uint32_t range; ///< index of the range
  /// Begin of the piece: within the whole tensor as ranks send it, within the place's shard of it (the whole
  /// tensor for an all-reduce), and within the window of the share. `inWindow` is aligned to cache lines if
  /// the window is.
  uint64_t begin, inPart, inWindow;
  uint64_t bytes;
};

/// Destination of the sums of a range from byte `inPart` of the source shard on; `inPart` counts bytes of
/// `dtype`.
inline std::byte *placeOfSums(const CollectiveRange &range, uint64_t inPart) {
  const uint64_t elements = inPart / elementBytes(range.dtype);
  return (range.destination + elements * elementBytes(range.destinationType())).pointer();
}

/// The part of a collective's ranges that one place sums or broadcasts: its shard of each range. If no rank
/// holds shards (all-reduce), any partition is correct, so the ranges are dealt in whole cache lines: all
/// places but the last ones get equal shares, however small each range is. Within a share the pieces lie one
/// after the other, each aligned to a cache line.
class Share {
public:
  Share(const Collective &collective, uint32_t places, uint32_t place)
      : ranges_(collective.ranges), parts_(isDealt(collective) ? 1 : places),
        part_(isDealt(collective) ? 0 : place) {
    for (const CollectiveRange &range : ranges_)
      bytes_ += wholeLines(partBytes(range));
    if (isDealt(collective)) {
      bytes_ = wholeLines((bytes_ + places - 1) / places);
      begin_ = place * bytes_;
    }
  }

  /// Size of the largest share, equal for all places; some shares are smaller.
  uint64_t bytes() const { return bytes_; }

  /// Calls visit(stretch) for the piece of each range that lies in the window.
  template <typename Visitor> void forEach(Window window, Visitor visit) const {
    const uint64_t begin = begin_ + window.begin, end = begin_ + std::min(window.end, bytes_);
    uint64_t at = 0; // offset of the range's first byte, in the same coordinates
    for (uint32_t i = 0; i < ranges_.size() && at < end; ++i) {
      const uint64_t held = partBytes(ranges_[i]);
      const uint64_t from = std::max(begin, at), to = std::min(end, at + held);
      if (from < to)
        visit(Stretch{i, part_ * held + (from - at), from - at, from - begin, to - from});
      at += wholeLines(held);
    }
  }
  template <typename Visitor> void forEach(Visitor visit) const { forEach({0, bytes_}, visit); }

private:
  static bool isDealt(const Collective &collective) {
    const CollectiveTraits traits = traitsOf(collective.kind);
    return !traits.sourceIsShard && !traits.destinationIsShard;
  }
  uint64_t partBytes(const CollectiveRange &range) const {
    return range.elements * elementBytes(range.dtype) / parts_;
  }

  std::span<const CollectiveRange> ranges_;
  uint64_t parts_, part_; ///< number of shards of each range, and the index of this place's shard
  uint64_t begin_ = 0;    ///< begin of the share, if cache lines are dealt
  uint64_t bytes_ = 0;
};

} // namespace trainc
