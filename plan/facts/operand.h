// Bytes that an instruction accesses through an operand.
#pragma once

#include "base/status.h"
#include "plan/facts/pieces.h"
#include "plan/schema/plan_generated.h"

#include <cstdint>

namespace trainc::facts {

/// Number of places along the operand's axes: 1 if it has no rank stride.
uint32_t placesOf(const fb::Plan &plan, const fb::Operand &operand);

/// Bytes accessed by an operand: `bytes` from its offset plus `shift` on, in each of `iterations` iterations,
/// on every rank.
struct Range {
  const fb::Operand *operand;
  uint64_t bytes;
  uint64_t iterations;
  uint64_t shift = 0;
};

/// Checks the buffer, and that every iteration stays within it on every rank. The first iteration must be
/// aligned to `alignment`, and each one to an element.
Status checkRange(const fb::Plan &plan, const Range &range, uint64_t alignment, const char *what);

/// Smallest span in the arena that contains a checked range over all iterations and ranks.
Span hull(const fb::Plan &plan, const Range &range);

/// Whether two checked ranges overlap in one iteration on one rank. Ranges with different loop strides are
/// compared by their hulls over all iterations, those with different rank strides or axes by their hulls over
/// all ranks.
bool overlap(const fb::Plan &plan, const Range &a, const Range &b);

} // namespace trainc::facts
