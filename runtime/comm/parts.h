// Which bytes of a collective's ranges belong to which rank; the same for all engines.
#pragma once

#include "runtime/comm/communicator.h"
#include "runtime/plan/dtype.h"

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

/// Bytes of one of a collective's ranges.
struct Stretch {
  uint32_t range; ///< its index
  /// Where they begin: in the whole tensor as ranks send it, in what a place has of it as its part (for an
  /// all-reduce the whole), and in the window of the share: there on a cache line, if the window begins on
  /// one.
  uint64_t begin, inPart, inWindow;
  uint64_t bytes;
};

/// Where the sums of a range go from byte `inPart` of what a place has to sum on, which is of `dtype`.
inline std::byte *placeOfSums(const CollectiveRange &range, uint64_t inPart) {
  const uint64_t elements = inPart / elementBytes(range.dtype);
  return (range.destination + elements * elementBytes(range.destinationType())).pointer();
}

/// What of a collective's ranges one place sums, or gives to all: its part of each range. Where it is
/// nobody's business who adds what, for an all-reduce, the ranges are dealt in whole cache lines instead, to
/// all places alike but for the last ones, however small each range is. What a share has of the ranges lies
/// in it one after the other, each from a cache line on.
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

  /// From the beginning of the share to its end, the same for all places: some may have less.
  uint64_t bytes() const { return bytes_; }

  /// Calls visit(stretch) for what the window has of each range.
  template <typename Visitor> void forEach(Window window, Visitor visit) const {
    const uint64_t begin = begin_ + window.begin, end = begin_ + std::min(window.end, bytes_);
    uint64_t at = 0; // of the range's first byte, counted like these
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
  static bool isDealt(const Collective &collective) { return collective.kind == MeetingKind::kAllReduce; }
  uint64_t partBytes(const CollectiveRange &range) const {
    return range.elements * elementBytes(range.dtype) / parts_;
  }

  std::span<const CollectiveRange> ranges_;
  uint64_t parts_, part_; ///< how many each range has, and which is this place's
  uint64_t begin_ = 0;    ///< of the share, where lines are dealt
  uint64_t bytes_ = 0;
};

} // namespace trainc
