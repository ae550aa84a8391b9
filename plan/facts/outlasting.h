// Outlasting copies: copies to disk that continue after their entry has ended.
//
// An entry's last copies to disk read scratch memory. Later writes to this memory in the same entry wait for
// them, but the next entry may begin while they are in flight. Its instructions on the disk stream run after
// them. Of its other instructions only those that write the memory wait; these waits are derived from the
// operands.
#pragma once

#include "plan/cost/entry_runs.h"
#include "plan/schema/plan_generated.h"

#include <cstdint>
#include <vector>

namespace trainc {

/// Instructions of a verified entry that copy to disk from non-persistent device memory, after all other
/// instructions of the disk stream; ascending.
std::vector<uint32_t> outlastingCopies(const fb::Plan &plan, const fb::Entry &entry);

/// Waits of `entry` on all streams but the disk's for outlasting copies of `previous`, by instruction index;
/// both members ascend. The end of a copy implies the end of all earlier ones.
std::vector<TaskWait> outlastingWaits(const fb::Plan &plan, const fb::Entry &previous,
                                      const fb::Entry &entry);

} // namespace trainc
