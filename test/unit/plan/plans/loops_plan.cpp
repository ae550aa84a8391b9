#include "test/unit/plan/plans/plan_builder.h"

namespace trainc::test {

PlanBuilder loopsPlan(uint32_t ranks) {
  constexpr uint64_t slice = 128, many = 6;
  PlanBuilder b;
  b.setRanks({ranks, ranks});
  const auto scratch = [&](const char *name, uint64_t slices) {
    return b.buffer(name, PlanBuilder::kScratch, fb::DType::F32, slices * slice / 4);
  };
  const uint32_t x = scratch("x", many), y = scratch("y", many), value = scratch("value", 1),
                 next = scratch("next", 1), sum = scratch("sum", 1), part = scratch("part", 1);
  const uint32_t state = b.buffer("state", PlanBuilder::kPersistent, fb::DType::F32, many * slice / 4);
  using enum fb::Access;
  const auto F32 = fb::DType::F32;
  const uint32_t inPlace = b.kernel("inPlace", 4, {{Read, F32, slice}, {Write, F32, slice, {0}}}),
                 add = b.kernel("add", 4, {{Read, F32, slice}, {ReadWrite, F32, slice}}),
                 join = b.kernel("join", 4, {{Read, F32, slice}, {Read, F32, slice}, {Write, F32, slice}}),
                 use = b.kernel("use", 1, {{Read, F32, slice}, {Write, F32, slice}});
  PlanBuilder::Body &body = b.entry("init").instructions;
  b.copy(body, at(state), at(x), many * slice);
  b.zero(body, at(sum), slice);
  PlanBuilder::Body &loop = b.loop(body, many);
  b.copy(loop, at(x, 0, slice), at(value), slice);
  b.launch(loop, inPlace, {at(value), at(value)});
  b.launch(loop, add, {at(value), at(sum)});
  b.launch(loop, use, {at(sum), at(next)});
  b.launch(loop, join, {at(value), at(next), at(y, 0, slice)});
  b.copy(body, at(y, 0, 0, slice), at(part), slice);
  b.launch(body, join, {at(part), at(sum), at(state, 0, 0, slice)});
  return b;
}

} // namespace trainc::test
