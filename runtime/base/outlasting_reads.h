// What copies read that outlast their entry, and which of them an instruction of the next entry waits for.
#pragma once

#include "runtime/base/last_touches.h"

#include <optional>
#include <vector>

namespace trainc {

/// Copies of one stream, which end in their order. First come their reads, then the writes of the next entry,
/// each in order.
class OutlastingReads {
public:
  explicit OutlastingReads(size_t arenas) : reads_(arenas) {}

  /// The copy, an instruction of its entry, reads there.
  void addRead(uint32_t copy, size_t arena, Span bytes) {
    reads_[arena].add(copy, 0, bytes, /*writes=*/false);
  }
  /// The next instruction writes there.
  void addWrite(size_t arena, Span bytes) { reads_[arena].find(bytes, /*writes=*/true, needed_); }
  /// The last copy for which it waits, if no instruction before it has.
  std::optional<uint32_t> takeWait() {
    if (needed_[0] == ended_)
      return std::nullopt;
    ended_ = needed_[0];
    return ended_ - 1;
  }

private:
  std::vector<LastTouches<1>> reads_; ///< by arena
  LastTouches<1>::Counts needed_{};
  uint32_t ended_ = 0; ///< copies before it are waited for
};

} // namespace trainc
