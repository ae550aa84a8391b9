// Last access to each byte of an arena, for each stream.
#pragma once

#include "plan/facts/pieces.h"

#include <array>

namespace trainc {

/// Records, for one arena, which instructions of an entry read or write which bytes. Instructions are added
/// in ascending order.
template <size_t kStreams> class LastTouches {
public:
  /// For each stream, one past the number of the last conflicting instruction; 0 if none conflicts.
  using Counts = std::array<uint32_t, kStreams>;

  void add(uint32_t instruction, size_t stream, Span bytes, bool writes) {
    pieces_.update(bytes, [&](Last &last) { (writes ? last.written : last.read)[stream] = instruction + 1; });
  }

  /// Raises `counts` to the last access of `bytes` that conflicts: one of the two accesses writes.
  void find(Span bytes, bool writes, Counts &counts) const {
    pieces_.forEach(bytes, [&](Span, const Last &last) {
      for (size_t stream = 0; stream < kStreams; ++stream)
        counts[stream] =
            std::max({counts[stream], last.written[stream], writes ? last.read[stream] : uint32_t{0}});
    });
  }

private:
  struct Last {
    Counts written{}, read{};
    bool operator==(const Last &) const = default;
  };

  Pieces<Last> pieces_;
};

} // namespace trainc
