// Copies to disk that go on when their entry has ended.
//
// An entry's last copies to disk read scratch memory. What writes that later in the entry waits for them. The
// next entry may begin meanwhile. What it does on the disk's stream is behind them. Of all else only an
// instruction that writes their memory waits, and those follow from the operands.
#pragma once

#include "runtime/schema/plan_generated.h"

#include <cstdint>
#include <vector>

namespace trainc {

/// The instructions of a verified entry that copy to disk from memory of the device that no entry keeps,
/// behind all else on the disk's stream; ascending.
std::vector<uint32_t> outlastingCopies(const fb::Plan &plan, const fb::Entry &entry);

/// Before `instruction` of an entry begins, `copy` of the entry before it has ended. Both are numbers of
/// instructions.
struct OutlastingWait {
  uint32_t instruction, copy;
  bool operator==(const OutlastingWait &) const = default;
};

/// What `entry` waits for on all streams but the disk's, if outlasting copies of `previous` still run: both
/// ascending. A copy has ended when a later one has.
std::vector<OutlastingWait> outlastingWaits(const fb::Plan &plan, const fb::Entry &previous,
                                            const fb::Entry &entry);

} // namespace trainc
