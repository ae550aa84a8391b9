#include "plan/facts/accesses.h"

#include "plan/facts/uses.h"

#include <algorithm>

namespace trainc::facts {

namespace {

Access accessOf(const fb::Plan &plan, const Range &range, bool reads, bool writes) {
  const fb::Operand &operand = *range.operand;
  const fb::Buffer &buffer = *plan.buffers()->Get(operand.buffer());
  const auto begin = static_cast<int64_t>(buffer.offset() + operand.offset() + range.shift),
             travel = static_cast<int64_t>(range.iterations - 1) * operand.loop_stride();
  return {.arena = buffer.arena(),
          .buffer = operand.buffer(),
          .begin = begin + std::min<int64_t>(travel, 0),
          .end = begin + std::max<int64_t>(travel, 0) + static_cast<int64_t>(range.bytes),
          .rankStride = static_cast<int64_t>(operand.rank_stride()),
          .axes = axesOf(operand.axes()),
          .reads = reads,
          .writes = writes};
}

void addAccesses(const fb::Plan &plan, const fb::Instruction &instruction, uint64_t iterations,
                 std::vector<Access> &accesses) {
  forEachPlainUse(plan, instruction, iterations, [&](const Use &use) {
    accesses.push_back(accessOf(plan, use.range, use.reads, use.writes));
  });
  for (const LibraryOperand &each : libraryOperands(instruction))
    if (each.operand)
      accesses.push_back(
          accessOf(plan, {each.operand, each.bytes.padded().hull(), iterations}, each.reads, each.writes));
}

} // namespace

std::vector<Access> accessesOf(const fb::Plan &plan, const fb::Instruction &instruction) {
  std::vector<Access> accesses;
  forEachInside(instruction, [&](const fb::Instruction &inner, uint64_t iterations) {
    addAccesses(plan, inner, iterations, accesses);
  });
  return accesses;
}

Span hull(const fb::Plan &plan, const Access &access) {
  return {access.begin, access.end + (int64_t{shapeOf(plan, access.axes).members} - 1) * access.rankStride};
}

bool conflict(const fb::Plan &plan, const Access &a, const Access &b) {
  if ((!a.writes && !b.writes) || a.arena != b.arena)
    return false;
  if (a.rankStride == b.rankStride && a.axes == b.axes)
    return a.begin < b.end && b.begin < a.end;
  const Span hullA = hull(plan, a), hullB = hull(plan, b);
  return hullA.begin < hullB.end && hullB.begin < hullA.end;
}

} // namespace trainc::facts
