// Ranges of bytes that instructions access: one for each operand, over all iterations.
#pragma once

#include "plan/facts/mesh.h"
#include "plan/facts/pieces.h"
#include "plan/schema/plan_generated.h"

#include <cstdint>
#include <vector>

namespace trainc::facts {

/// Bytes [begin, end) of an arena from the first to the last that an operand covers, over all iterations, on
/// rank 0. On each further rank along `axes` the range moves by `rankStride` bytes.
struct Access {
  uint32_t arena, buffer; ///< indices of the plan's tables
  int64_t begin, end, rankStride;
  Axes axes;
  bool reads, writes;
};

/// Accesses of a checked instruction; those of a loop are its instructions'.
std::vector<Access> accessesOf(const fb::Plan &plan, const fb::Instruction &instruction);

/// Range from the first to the last byte over all ranks.
Span hull(const fb::Plan &plan, const Access &access);

/// Whether the accesses overlap on some rank and at least one of them writes.
bool conflict(const fb::Plan &plan, const Access &a, const Access &b);

} // namespace trainc::facts
