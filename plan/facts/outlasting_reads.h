// Reads of copies that are still in flight when their entry ends, and the waits that they require in the next
// entry.
#pragma once

#include "plan/facts/last_touches.h"

#include <optional>
#include <vector>

namespace trainc {

/// Copies of one stream, which complete in order. First their reads are added, then the writes of the next
/// entry, each in order.
class OutlastingReads {
public:
  explicit OutlastingReads(size_t arenas) : reads_(arenas) {}

  /// Adds a read by `copy`, the instruction number of a copy.
  void addRead(uint32_t copy, size_t arena, Span bytes) {
    reads_[arena].add(copy, 0, bytes, /*writes=*/false);
  }
  /// Adds a write by the next instruction.
  void addWrite(size_t arena, Span bytes) { reads_[arena].find(bytes, /*writes=*/true, needed_); }
  /// The last copy that this instruction must wait for, unless an earlier instruction already waited for it.
  std::optional<uint32_t> takeWait() {
    if (needed_[0] == ended_)
      return std::nullopt;
    ended_ = needed_[0];
    return ended_ - 1;
  }

private:
  std::vector<LastTouches<1>> reads_; ///< by arena
  LastTouches<1>::Counts needed_{};
  uint32_t ended_ = 0; ///< copies before this one are already waited for
};

} // namespace trainc
