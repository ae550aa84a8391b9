#include "test/unit/plan/plans/plan_builder.h"

namespace trainc::test {

PlanBuilder spacesPlan() {
  using enum fb::Access;
  constexpr uint64_t many = 4096, bytes = many * 4; // as test_kernels.c has it
  constexpr auto F32 = fb::DType::F32;
  PlanBuilder b;
  const uint32_t host = b.arena("host", fb::Space::Host), disk = b.arena("disk", fb::Space::Disk, true);
  const uint32_t w = b.buffer("w", PlanBuilder::kPersistent, F32, many, fb::Role::Parameter),
                 x = b.buffer("x", PlanBuilder::kScratch, F32, many, fb::Role::Activation),
                 y = b.buffer("y", PlanBuilder::kScratch, F32, many, fb::Role::Activation),
                 z = b.buffer("z", PlanBuilder::kScratch, F32, many, fb::Role::Activation),
                 kept = b.buffer("kept", host, F32, many), stored = b.buffer("stored", disk, F32, many);
  b.state("w", w, {many}, fb::Role::Parameter);
  const ParamSpec read{Read, F32, bytes}, write{Write, F32, bytes};
  const uint32_t add = b.kernel("test_add", 16, {read, read, write}),
                 inverse = b.kernel("test_reciprocal", 16, {read, {Write, F32, bytes, {0}}});

  PlanBuilder::Body &body = b.entry("init").instructions;
  b.launch(body, inverse, {at(w), at(x)});
  b.transfer(body, fb::Stream::CopyOut, at(x), at(kept), bytes);
  b.after(body, {0});
  b.transfer(body, fb::Stream::Disk, at(x), at(stored), bytes);
  b.after(body, {0});
  b.launch(body, inverse, {at(x), at(x)});
  b.after(body, {1, 2});
  b.transfer(body, fb::Stream::CopyIn, at(kept), at(y), bytes);
  b.after(body, {1});
  b.transfer(body, fb::Stream::Disk, at(stored), at(z), bytes);
  b.launch(body, add, {at(y), at(z), at(w)});
  b.after(body, {4, 5});
  return b;
}

} // namespace trainc::test
