// Who touched bytes last, on each of several streams.
#pragma once

#include "runtime/base/pieces.h"

#include <array>

namespace trainc {

/// Instructions of an entry that read or write bytes of one arena, by their numbers. They are added in order.
template <size_t kStreams> class LastTouches {
public:
  /// By stream: how many instructions there are up to the last one that matters; 0 if none does.
  using Counts = std::array<uint32_t, kStreams>;

  void add(uint32_t instruction, size_t stream, Span bytes, bool writes) {
    pieces_.update(bytes, [&](Last &last) { (writes ? last.written : last.read)[stream] = instruction + 1; });
  }

  /// Raises each of `counts` to the last one that touched some of these bytes, where that or who asks writes.
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
