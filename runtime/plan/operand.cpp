#include "runtime/plan/operand.h"

#include "runtime/plan/dtype.h"
#include "runtime/plan/verify.h"

#include <algorithm>
#include <limits>

namespace trainc::verify {

namespace {

/// Bytes [begin, end) of an arena.
struct Hull {
  int64_t begin = 0, end = 0;
};

/// The hull of an operand's iterations relative to its buffer; false when the arithmetic overflows.
bool hull(const Range &range, Hull &result) {
  constexpr uint64_t limit = std::numeric_limits<int64_t>::max();
  int64_t travel = 0;
  if (range.operand->offset() > limit || range.bytes > limit || range.iterations - 1 > limit ||
      !multiply(static_cast<int64_t>(range.iterations - 1), range.operand->loop_stride(), travel))
    return false;
  const auto offset = static_cast<int64_t>(range.operand->offset());
  return add(offset, std::min<int64_t>(travel, 0), result.begin) &&
         add(offset, std::max<int64_t>(travel, 0), result.end) &&
         add(result.end, static_cast<int64_t>(range.bytes), result.end);
}

} // namespace

Status checkRange(const fb::Plan &plan, const Range &range, uint64_t alignment, const char *what) {
  const fb::Operand &operand = *range.operand;
  if (operand.buffer() >= plan.buffers()->size())
    return invalidInput("{}: expected a buffer below {}, found {}", what, plan.buffers()->size(),
                        operand.buffer());
  if (range.iterations == 1 && operand.loop_stride() != 0)
    return invalidInput("{}: expected no loop stride outside a loop, found {}", what, operand.loop_stride());
  const fb::Buffer &buffer = *plan.buffers()->Get(operand.buffer());
  Hull bytes;
  if (!hull(range, bytes) || bytes.begin < 0 || static_cast<uint64_t>(bytes.end) > buffer.bytes())
    return invalidInput(
        "{}: expected it within the {} bytes of buffer {} ('{}'), found {} bytes at {}, {} times {} "
        "bytes apart",
        what, buffer.bytes(), operand.buffer(), view(buffer.name()), range.bytes, operand.offset(),
        range.iterations, operand.loop_stride());
  const auto element = static_cast<int64_t>(elementBytes(buffer.dtype()));
  if (operand.offset() % alignment != 0 || operand.loop_stride() % element != 0)
    return invalidInput("{}: expected an offset in multiples of {} and a loop stride in multiples of {}, "
                        "found {} and {}",
                        what, alignment, element, operand.offset(), operand.loop_stride());
  return {};
}

bool overlap(const fb::Plan &plan, const Range &a, const Range &b) {
  const fb::Buffer &bufferA = *plan.buffers()->Get(a.operand->buffer());
  const fb::Buffer &bufferB = *plan.buffers()->Get(b.operand->buffer());
  if (bufferA.arena() != bufferB.arena())
    return false;
  const bool together = a.operand->loop_stride() == b.operand->loop_stride();
  Hull hullA, hullB;
  hull({a.operand, a.bytes, together ? 1 : a.iterations}, hullA);
  hull({b.operand, b.bytes, together ? 1 : b.iterations}, hullB);
  const auto baseA = static_cast<int64_t>(bufferA.offset()), baseB = static_cast<int64_t>(bufferB.offset());
  return baseA + hullA.begin < baseB + hullB.end && baseB + hullB.begin < baseA + hullA.end;
}

} // namespace trainc::verify
