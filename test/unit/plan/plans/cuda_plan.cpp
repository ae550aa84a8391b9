#include "test/unit/plan/plans/cuda_plan.h"

#include "base/mapped_file.h"
#include "plan/facts/dtype.h"
#include "test/unit/plan/plans/test_file.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace trainc::test {

PlanBuilder forCuda(PlanBuilder builder) { return forCuda(std::move(builder), TRAINC_TEST_PTX, 256); }

PlanBuilder forCuda(PlanBuilder builder, const char *ptx, uint32_t threads) {
  const auto text = MappedFile::open(testFile(ptx));
  if (!text.ok())
    std::abort();
  builder.plan.target = "cuda";
  builder.plan.objects.resize(1);
  fb::ObjectT &object = *builder.plan.objects[0];
  object.level = "compute_80";
  object.features.clear();
  object.image.clear();
  for (const std::byte each : text->bytes())
    object.image.push_back(static_cast<uint8_t>(each));
  object.image.push_back(0);
  for (const auto &kernel : builder.plan.kernels)
    kernel->threads = threads;
  return builder;
}

PlanBuilder hostKernelsPlan() {
  using enum fb::Access;
  constexpr uint64_t many = 4096, bytes = many * 4; // as test_kernels.c has it
  constexpr auto F32 = fb::DType::F32;
  PlanBuilder b;
  const uint32_t w = b.buffer("w", PlanBuilder::kPersistent, F32, many, fb::Role::Parameter),
                 x = b.buffer("x", PlanBuilder::kScratch, F32, many, fb::Role::Activation),
                 y = b.buffer("y", PlanBuilder::kScratch, F32, many, fb::Role::Activation),
                 host = b.arena("host", fb::Space::Host), kept = b.buffer("kept", host, F32, many),
                 sum = b.buffer("sum", host, F32, many);
  b.state("w", w, {many}, fb::Role::Parameter);
  const ParamSpec read{Read, F32, bytes}, write{Write, F32, bytes};
  const uint32_t inverse = b.kernel("test_reciprocal", 16, {read, write}),
                 add = b.kernel("test_add", 16, {read, read, write});
  PlanBuilder::Body &body = b.entry("init").instructions;
  b.launch(body, inverse, {at(w), at(x)});
  b.transfer(body, fb::Stream::CopyOut, at(x), at(kept), bytes);
  b.after(body, {0});
  b.launch(body, add, {at(kept), at(kept), at(sum)});
  b.on(body, fb::Stream::HostCompute);
  b.after(body, {1});
  b.transfer(body, fb::Stream::CopyIn, at(sum), at(y), bytes);
  b.after(body, {2});
  b.launch(body, inverse, {at(y), at(w)});
  b.after(body, {3});
  auto code = std::make_unique<fb::ObjectT>(*b.plan.objects[0]);
  b = forCuda(std::move(b));
  b.plan.objects.push_back(std::move(code));
  b.plan.kernels[add]->on_host = true;
  b.plan.kernels[add]->threads = 1;
  return b;
}

namespace {

/// The kernel that sums a range, made where it is first asked for.
uint32_t rankSumKernel(PlanBuilder &builder, const fb::RangeT &range, uint32_t places) {
  const fb::DType sum = range.widens ? fb::DType::F32 : range.dtype;
  const std::string symbol = fmt::format("rank_sum_{}_{}_{}", dtypeName(range.dtype), dtypeName(sum), places);
  auto &kernels = builder.plan.kernels;
  const auto known = std::ranges::find(kernels, symbol, [](const auto &each) { return each->symbol; });
  if (known != kernels.end())
    return static_cast<uint32_t>(known - kernels.begin());
  const uint32_t made = builder.kernel(symbol, 512, {});
  const auto param = [&](fb::Access access, fb::DType dtype, uint64_t bytes) {
    auto table = std::make_unique<fb::ParamT>();
    table->access = access;
    table->dtype = dtype;
    table->bytes = bytes;
    kernels[made]->params.push_back(std::move(table));
  };
  kernels[made]->kind = fb::KernelKind::RankSum;
  kernels[made]->threads = 256;
  for (uint32_t place = 0; place < places; ++place)
    param(fb::Access::Read, range.dtype, elementBytes(range.dtype));
  param(fb::Access::Write, sum, elementBytes(sum));
  param(fb::Access::Read, sum, 0);
  return made;
}

} // namespace

PlanBuilder rankSumsPlan(uint32_t ranks, uint32_t shardRanks) {
  PlanBuilder builder = forCuda(wideningPlan(ranks, shardRanks));
  for (const auto &entry : builder.plan.entries)
    for (const auto &instruction : entry->instructions) {
      fb::CollectiveT *collective = instruction->operation.AsCollective();
      if (!collective || collective->kind == fb::CollectiveKind::AllGather)
        continue;
      const uint32_t places = shapeOf(builder.plan, *collective->axes).members;
      for (const auto &range : collective->ranges) {
        const uint64_t bytes = uint64_t{64} * (places - 1);
        range->sum_kernel = rankSumKernel(builder, *range, places);
        range->workspace = std::make_unique<fb::Operand>(
            at(builder.buffer("sent", PlanBuilder::kScratch, fb::DType::F32, bytes / 4)));
        range->workspace_bytes = bytes;
      }
    }
  return builder;
}

} // namespace trainc::test
