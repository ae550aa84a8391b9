// The bytes that an instruction touches through an operand. Internal to runtime/plan.
#pragma once

#include "runtime/base/pieces.h"
#include "runtime/base/status.h"
#include "runtime/schema/plan_generated.h"

#include <cstdint>

namespace trainc::verify {

/// What an operand touches: `bytes` from `shift` bytes behind its offset on, in every one of `iterations`
/// iterations, on every rank.
struct Range {
  const fb::Operand *operand;
  uint64_t bytes;
  uint64_t iterations;
  uint64_t shift = 0;
};

/// Checks the buffer, that every iteration stays within it on every rank, that the first one starts on a
/// multiple of `alignment`, and each on an element.
Status checkRange(const fb::Plan &plan, const Range &range, uint64_t alignment, const char *what);

/// What a checked range touches in its arena, from the first byte to the last, over all iterations and ranks.
Span hull(const fb::Plan &plan, const Range &range);

/// Whether two checked ranges share bytes in one iteration on one rank. Ranges that advance differently are
/// compared as the hulls of all iterations, those that move differently by the rank as the hulls over all
/// ranks.
bool overlap(const fb::Plan &plan, const Range &a, const Range &b);

} // namespace trainc::verify
