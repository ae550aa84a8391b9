#include "plan/facts/operand.h"

#include "plan/facts/checked_math.h"
#include "plan/facts/dtype.h"
#include "plan/facts/mesh.h"
#include "plan/facts/view.h"

#include <algorithm>
#include <limits>

namespace trainc::facts {

uint32_t placesOf(const fb::Plan &plan, const fb::Operand &operand) {
  return shapeOf(plan, axesOf(operand.axes())).members;
}

namespace {

/// Hull of a range relative to its buffer, over the given iterations and places; false on overflow.
bool hull(const Range &range, uint64_t iterations, uint64_t places, Span &result) {
  constexpr uint64_t limit = std::numeric_limits<int64_t>::max();
  const fb::Operand &operand = *range.operand;
  int64_t travel = 0, shift = 0;
  if (operand.offset() > limit || range.bytes > limit || iterations - 1 > limit ||
      operand.rank_stride() > limit || range.shift > limit ||
      !multiply(static_cast<int64_t>(iterations - 1), operand.loop_stride(), travel) ||
      !multiply(static_cast<int64_t>(places - 1), static_cast<int64_t>(operand.rank_stride()), shift))
    return false;
  int64_t offset = 0;
  return add(static_cast<int64_t>(operand.offset()), static_cast<int64_t>(range.shift), offset) &&
         add(offset, std::min<int64_t>(travel, 0), result.begin) &&
         add(offset, std::max<int64_t>(travel, 0), result.end) && add(result.end, shift, result.end) &&
         add(result.end, static_cast<int64_t>(range.bytes), result.end);
}

/// Hull of a checked range in its arena.
Span arenaHull(const fb::Plan &plan, const Range &range, uint64_t iterations, uint64_t places) {
  Span span{};
  hull(range, iterations, places, span);
  const auto base = static_cast<int64_t>(plan.buffers()->Get(range.operand->buffer())->offset());
  return {base + span.begin, base + span.end};
}

Status checkMoves(const fb::Plan &plan, const Range &range, const char *what) {
  const fb::Operand &operand = *range.operand;
  if (range.iterations == 1 && operand.loop_stride() != 0)
    return invalidInput("{}: expected no loop stride outside a loop, found {}", what, operand.loop_stride());
  const uint32_t count = plan.mesh() ? plan.mesh()->size() : 0;
  const Axes axes = axesOf(operand.axes());
  if (operand.rank_stride() == 0 && axes == Axes())
    return {};
  if (axes.isEmpty() || axes.end > count || operand.rank_stride() == 0)
    return invalidInput("{}: expected no rank stride and no axes, or a stride along some of the mesh's {} "
                        "axes, found {} along axes {} to {}",
                        what, count, operand.rank_stride(), axes.first, axes.end);
  return {};
}

Status checkExtent(const fb::Plan &plan, const Range &range, const char *what) {
  const fb::Operand &operand = *range.operand;
  const fb::Buffer &buffer = *plan.buffers()->Get(operand.buffer());
  Span bytes{};
  if (hull(range, range.iterations, placesOf(plan, operand), bytes) && bytes.begin >= 0 &&
      static_cast<uint64_t>(bytes.end) <= buffer.bytes())
    return {};
  const std::string byRank =
      operand.rank_stride() == 0
          ? ""
          : fmt::format(", on {} ranks {} bytes apart", placesOf(plan, operand), operand.rank_stride());
  return invalidInput("{}: expected it within the {} bytes of buffer {} ('{}'), found {} bytes at {}, {} "
                      "times {} bytes apart{}",
                      what, buffer.bytes(), operand.buffer(), view(buffer.name()), range.bytes,
                      operand.offset(), range.iterations, operand.loop_stride(), byRank);
}

} // namespace

Status checkRange(const fb::Plan &plan, const Range &range, uint64_t alignment, const char *what) {
  const fb::Operand &operand = *range.operand;
  if (operand.buffer() >= plan.buffers()->size())
    return invalidInput("{}: expected a buffer below {}, found {}", what, plan.buffers()->size(),
                        operand.buffer());
  TRAINC_RETURN_IF_ERROR(checkMoves(plan, range, what));
  TRAINC_RETURN_IF_ERROR(checkExtent(plan, range, what));
  const auto element = static_cast<int64_t>(elementBytes(plan.buffers()->Get(operand.buffer())->dtype()));
  if (operand.offset() % alignment != 0 || operand.loop_stride() % element != 0)
    return invalidInput("{}: expected an offset in multiples of {} and a loop stride in multiples of {}, "
                        "found {} and {}",
                        what, alignment, element, operand.offset(), operand.loop_stride());
  if (operand.rank_stride() % alignment != 0 || operand.rank_stride() % static_cast<uint64_t>(element) != 0)
    return invalidInput("{}: expected a rank stride in multiples of {}, found {}", what,
                        std::max(alignment, static_cast<uint64_t>(element)), operand.rank_stride());
  return {};
}

Span hull(const fb::Plan &plan, const Range &range) {
  return arenaHull(plan, range, range.iterations, placesOf(plan, *range.operand));
}

bool overlap(const fb::Plan &plan, const Range &a, const Range &b) {
  const fb::Buffer &bufferA = *plan.buffers()->Get(a.operand->buffer());
  const fb::Buffer &bufferB = *plan.buffers()->Get(b.operand->buffer());
  if (bufferA.arena() != bufferB.arena() || a.bytes == 0 || b.bytes == 0)
    return false;
  const bool advanceAlike = a.operand->loop_stride() == b.operand->loop_stride();
  const bool moveAlike = a.operand->rank_stride() == b.operand->rank_stride() &&
                         axesOf(a.operand->axes()) == axesOf(b.operand->axes());
  const auto hullOf = [&](const Range &range) {
    return arenaHull(plan, range, advanceAlike ? 1 : range.iterations,
                     moveAlike ? 1 : placesOf(plan, *range.operand));
  };
  const Span hullA = hullOf(a), hullB = hullOf(b);
  return hullA.begin < hullB.end && hullB.begin < hullA.end;
}

} // namespace trainc::facts
