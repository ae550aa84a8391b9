// Outlasting copies: copies to disk that continue after their entry has ended.
//
// An entry's last copies to disk read scratch memory. Later writes to this memory in the same entry wait for
// them, but the next entry may begin while they are in flight. Its instructions on the disk stream run after
// them. Of its other instructions only those that write the memory wait; these waits are derived from the
// operands.
#pragma once

#include "plan/schema/plan_generated.h"

#include <cstdint>
#include <vector>

namespace trainc {

/// Instructions of a verified entry that copy to disk from non-persistent device memory, after all other
/// instructions of the disk stream; ascending.
std::vector<uint32_t> outlastingCopies(const fb::Plan &plan, const fb::Entry &entry);

/// `instruction` of an entry begins only after `copy` of the previous entry has ended. Both are instruction
/// indices.
struct OutlastingWait {
  uint32_t instruction, copy;
  bool operator==(const OutlastingWait &) const = default;
};

/// Waits of `entry` on all streams but the disk's for outlasting copies of `previous`; both members ascend.
/// The end of a copy implies the end of all earlier ones.
std::vector<OutlastingWait> outlastingWaits(const fb::Plan &plan, const fb::Entry &previous,
                                            const fb::Entry &entry);

} // namespace trainc
