#include "test/unit/plan/plans/plan_builder.h"

namespace trainc::test {

namespace {

using fb::Access;
using fb::DType;
using fb::Role;
using enum fb::CollectiveKind;

constexpr uint32_t kPersistent = PlanBuilder::kPersistent, kScratch = PlanBuilder::kScratch;

/// Indices of the plan's buffers: capital letters for whole tensors.
struct RanksBuffers {
  uint32_t w0, w1, h0, h1, norm, u, c, d, W0, W1, X, Y, Z, G0, G1, C, g0, g1;
};

/// Indices of the plan's kernels.
struct RanksKernels {
  uint32_t sum, scale, total;
};

RanksBuffers addRanksBuffers(PlanBuilder &b, uint64_t part) {
  const uint64_t integers = uint64_t{2} * kWhole / part;
  const auto whole = [&](const char *name) {
    return b.buffer(name, kScratch, DType::F32, kWhole, Role::Activation);
  };
  return {.w0 = b.buffer("w0", kPersistent, DType::F32, part, Role::Parameter),
          .w1 = b.buffer("w1", kPersistent, DType::F32, part, Role::Parameter),
          .h0 = b.buffer("h0", kPersistent, DType::F32, part, Role::Gradient),
          .h1 = b.buffer("h1", kPersistent, DType::F32, part, Role::Gradient),
          .norm = b.buffer("norm", kPersistent, DType::F32, 1),
          .u = b.buffer("u", kPersistent, DType::F32, kWhole, Role::Cache),
          .c = b.buffer("c", kPersistent, DType::I32, 2),
          .d = b.buffer("d", kPersistent, DType::I32, integers, Role::Cache),
          .W0 = whole("W0"),
          .W1 = whole("W1"),
          .X = whole("X"),
          .Y = whole("Y"),
          .Z = whole("Z"),
          .G0 = whole("G0"),
          .G1 = whole("G1"),
          .C = b.buffer("C", kScratch, DType::I32, integers),
          .g0 = b.buffer("g0", kScratch, DType::F32, part),
          .g1 = b.buffer("g1", kScratch, DType::F32, part)};
}

RanksKernels addRanksKernels(PlanBuilder &b) {
  const ParamSpec read{Access::Read, DType::F32, kWhole * 4}, write{Access::Write, DType::F32, kWhole * 4};
  const ParamSpec one{Access::Read, DType::F32, 4}, result{Access::Write, DType::F32, 4};
  return {.sum = b.kernel("test_ranks_sum", 12, {read, read, write}),
          .scale = b.kernel("test_ranks_scale", 12, {read, one, write}),
          .total = b.kernel("test_ranks_total", 1, {read, result})};
}

/// Shards a state along `shard`.
void shard(fb::StateT &state) { state.sharded = std::make_unique<fb::Axes>(kShard.first, kShard.end); }

void addRanksStates(PlanBuilder &b, const RanksBuffers &x) {
  shard(b.state("a", x.w0, {10, 10}, Role::Parameter));
  fb::StateT &second = b.state("b", x.w0, {80}, Role::Parameter); // at the next multiple of 64 bytes
  shard(second);
  second.offset = 112;
  shard(b.state("w1", x.w1, {kWhole}, Role::Parameter));
}

} // namespace

PlanBuilder ranksPlan(uint32_t ranks, uint32_t shardRanks) {
  PlanBuilder b;
  b.setRanks({ranks, shardRanks});
  const uint64_t part = kWhole / shardRanks, partBytes = part * 4;
  const RanksBuffers x = addRanksBuffers(b, part);
  const RanksKernels k = addRanksKernels(b);
  addRanksStates(b, x);
  const uint32_t gather = b.source("h.0: dist.all_gather", 12),
                 scatter = b.source("h.0: dist.reduce_scatter", 30);

  PlanBuilder::Body &micro = b.entry("micro_step").instructions;
  const auto last = [&] { return static_cast<uint32_t>(micro.size()) - 1; };
  b.collective(micro, {AllGather, {{at(x.w0), at(x.W0), kWhole}}}, gather);
  b.collective(micro, {AllGather, {{at(x.w1), at(x.W1), kWhole}}}, gather);
  b.launch(micro, k.sum, {at(x.W0), at(x.W0), at(x.X)});
  b.after(micro, {0});
  b.launch(micro, k.sum, {at(x.X), at(x.W1), at(x.Y)});
  b.after(micro, {1});
  b.launch(micro, k.sum, {at(x.Y), at(x.Y), at(x.G1)});
  b.collective(micro, {ReduceScatter, {{at(x.G1), at(x.g1), kWhole}}}, scatter);
  b.after(micro, {last() - 1});
  b.launch(micro, k.sum, {at(x.X), at(x.Y), at(x.G0)});
  b.collective(micro, {ReduceScatter, {{at(x.G0), at(x.g0), kWhole}}}, scatter);
  b.after(micro, {last() - 1});
  b.copy(micro, at(x.g1), at(x.h1), partBytes);
  b.after(micro, {last() - 3});
  b.copy(micro, at(x.g0), at(x.h0), partBytes);
  b.after(micro, {last() - 2});
  if (shardRanks != ranks) { // sums over a shard group, then over its replicas
    b.collective(micro, {AllReduce, {{at(x.h0), at(x.h0), part}, {at(x.h1), at(x.h1), part}}, kReplica});
    b.after(micro, {last() - 1});
  }
  b.launch(micro, k.total, {at(x.Y), at(x.norm)});
  b.collective(micro, {AllReduce, {{at(x.norm), at(x.norm), 1}}, kBothAxes});
  b.after(micro, {last() - 1});
  b.launch(micro, k.scale, {at(x.W1), at(x.norm), at(x.Z)});
  b.after(micro, {last() - 1});
  b.copy(micro, at(x.Z, 0, 0, partBytes), at(x.w1), partBytes);

  PlanBuilder::Body &update = b.entry("update").instructions;
  b.copy(update, at(x.w1), at(x.u, 0, 0, partBytes), partBytes);
  const uint64_t integers = uint64_t{2} * shardRanks;
  b.collective(
      update,
      {AllGather, {{at(x.u, 0, 0, partBytes), at(x.u), kWhole}, {at(x.c), at(x.C), integers, DType::I32}}},
      gather);
  b.after(update, {0});
  b.copy(update, at(x.C), at(x.d), integers * 4);
  b.after(update, {1});
  return b;
}

PlanBuilder wideningPlan(uint32_t ranks, uint32_t shardRanks) {
  PlanBuilder b = ranksPlan(ranks, shardRanks);
  const uint32_t low = b.buffer("low", kScratch, DType::BF16, kWhole),
                 wide = b.buffer("wide", kPersistent, DType::F32, kWhole, Role::Cache);
  PlanBuilder::Body &update = b.plan.entries[1]->instructions;
  b.zero(update, at(low), kWhole * 2);
  b.collective(update, {ReduceScatter,
                        {{at(low), at(wide, 0, 0, kWhole / shardRanks * 4), kWhole, DType::BF16, true}}});
  b.after(update, {static_cast<uint32_t>(update.size()) - 2});
  return b;
}

} // namespace trainc::test
