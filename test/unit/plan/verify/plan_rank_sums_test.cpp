// Sums over ranks by kernels of the plan: which a plan may have.
#include "test/unit/plan/plans/cuda_plan.h"
#include "test/unit/plan/verify/flow_interpreter.h"
#include "test/unit/plan/verify/verifier_support.h"

#include <algorithm>
#include <functional>
#include <gmock/gmock.h>

namespace trainc::test {
namespace {

using testing::HasSubstr;

/// The reduce-scatter of bf16 into f32 at the end of update.
fb::RangeT &summedRange(PlanBuilder &b) {
  return *operation<fb::CollectiveT>(b, 1, b.plan.entries[1]->instructions.size() - 1).ranges[0];
}
fb::KernelT &summingKernel(PlanBuilder &b) { return *b.plan.kernels[*summedRange(b).sum_kernel]; }
fb::BufferT &workspaceOf(PlanBuilder &b) { return *b.plan.buffers[summedRange(b).workspace->buffer()]; }
/// The all-reduce of two ranges over replicas, in micro_step.
fb::CollectiveT &sumOfTwo(PlanBuilder &b) {
  for (const auto &instruction : b.plan.entries[0]->instructions)
    if (fb::CollectiveT *found = instruction->operation.AsCollective(); found && found->ranges.size() == 2)
      return *found;
  std::abort();
}

const char *const kParameters =
    "kernel rank_sum_bf16_f32_2: expected of one of kind rank_sum an element of "
    "f32, bf16 or f16 that is read for each of several ranks, one of that type or "
    "f32 that is written, and an end of 0 bytes, found other parameters";

struct RankSumRule {
  const char *name;
  std::function<void(PlanBuilder &)> breakIt;
  const char *message;
};

const RankSumRule kRankSumRules[] = {
    {"noSuchKernel", [](auto &b) { summedRange(b).sum_kernel = 99; },
     "reduce-scatter: expected a sum_kernel below 6, found 99"},
    {"anyKernel", [](auto &b) { summedRange(b).sum_kernel = 0; },
     "reduce-scatter: expected a sum_kernel of kind rank_sum that adds 2 of bf16 into f32, found kernel "
     "test_ranks_sum"},
    {"ofOtherTypes", [](auto &b) { summedRange(b).sum_kernel = *sumOfTwo(b).ranges[0]->sum_kernel; },
     "that adds 2 of bf16 into f32, found kernel rank_sum_f32_f32_2"},
    {"ofOtherPlaces", [](auto &b) { *sumOfTwo(b).axes = {0, 2}; },
     "all-reduce of range 0: expected a sum_kernel of kind rank_sum that adds 4 of f32 into f32, found "
     "kernel "
     "rank_sum_f32_f32_2"},
    {"ofAGather", [](auto &b) { operation<fb::CollectiveT>(b, 0, 0).ranges[0]->sum_kernel = 4; },
     "all-gather: expected a sum_kernel in sums where the target is cuda alone, found kernel 4"},
    {"noWorkspace", [](auto &b) { summedRange(b).workspace = nullptr; },
     "reduce-scatter workspace: expected one beside a sum_kernel, found none"},
    {"littleWorkspace", [](auto &b) { summedRange(b).workspace_bytes = 63; },
     "reduce-scatter workspace: expected at least 64 bytes for each of 1 other ranks, found 63"},
    {"workspaceExtent", [](auto &b) { summedRange(b).workspace_bytes = 128; },
     "reduce-scatter workspace: expected it within the 64 bytes"},
    {"workspaceAlignment",
     [](auto &b) { *summedRange(b).workspace = at(summedRange(b).destination->buffer(), 4); },
     "expected an offset in multiples of 64"},
    {"workspaceOnTheHost",
     [](auto &b) {
       workspaceOf(b).arena = b.arena("host", fb::Space::Host), workspaceOf(b).offset = 0,
       b.plan.arenas.back()->bytes = 64;
     },
     "reduce-scatter workspace: expected memory of the device, found 'sent' elsewhere"},
    {"workspaceByRank",
     [](auto &b) { *summedRange(b).workspace = at(b.buffer("long", 1, fb::DType::F32, 64), 0, 0, 64); },
     "reduce-scatter workspace: expected a rank stride of 0, found 64"},
    {"workspaceInTheSource", [](auto &b) { *summedRange(b).workspace = *summedRange(b).source; },
     "reduce-scatter workspace: expected it apart from source and destination, found shared bytes"},
    {"workspaceInTheDestination",
     [](auto &b) { *summedRange(b).workspace = at(summedRange(b).destination->buffer()); },
     "reduce-scatter workspace: expected it apart from source and destination, found shared bytes"},
    {"workspaceOfTwo", [](auto &b) { *sumOfTwo(b).ranges[1]->workspace = *sumOfTwo(b).ranges[0]->workspace; },
     "expected ranges that have only bytes in common that both read, found others in ranges 0 and 1"},
    {"workspaceInAnotherRange",
     [](auto &b) { *sumOfTwo(b).ranges[0]->workspace = *sumOfTwo(b).ranges[1]->source; },
     "expected ranges that have only bytes in common that both read, found others in ranges 0 and 1"},
    {"workspaceWithoutASum", [](auto &b) { sumOfTwo(b).ranges[0]->sum_kernel = flatbuffers::nullopt; },
     "all-reduce of range 0: expected no workspace without a sum_kernel, found 64 bytes"},
    {"launched", [](auto &b) { operation<fb::LaunchT>(b, 0, 2).kernel = *summedRange(b).sum_kernel; },
     "kernel rank_sum_bf16_f32_2: expected a kernel that a launch may call, found one of kind rank_sum, "
     "which collectives call"},
    {"ofOneRank", [](auto &b) { summingKernel(b).params.erase(summingKernel(b).params.begin()); },
     kParameters},
    {"thatWrites", [](auto &b) { summingKernel(b).params[0]->access = fb::Access::ReadWrite; }, kParameters},
    {"ofMixedTypes", [](auto &b) { summingKernel(b).params[1]->dtype = fb::DType::F16; }, kParameters},
    {"ofIntegers",
     [](auto &b) {
       for (const auto &param : summingKernel(b).params)
         param->dtype = fb::DType::I32, param->bytes = param->bytes > 0 ? 4 : 0;
     },
     kParameters},
    {"intoShorter",
     [](auto &b) {
       summingKernel(b).params[2]->dtype = fb::DType::F16, summingKernel(b).params[2]->bytes = 2;
     },
     kParameters},
    {"ofManyElements", [](auto &b) { summingKernel(b).params[2]->bytes = 8; }, kParameters},
    {"withoutAnEnd", [](auto &b) { summingKernel(b).params.pop_back(); }, kParameters},
    {"endThatIsRead", [](auto &b) { summingKernel(b).params[3]->bytes = 4; }, kParameters},
};

class RankSum : public testing::TestWithParam<RankSumRule> {};

TEST_P(RankSum, IsRefusedWithItsMessage) {
  PlanBuilder builder = rankSumsPlan(4, 2);
  GetParam().breakIt(builder);
  EXPECT_THAT(messageOf(builder), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Plan, RankSum, testing::ValuesIn(kRankSumRules),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(RankSumsPlan, IsAcceptedAndSoundForAnyRanks) {
  for (const auto &[ranks, shardRanks] : {std::pair(2U, 2U), std::pair(3U, 3U), std::pair(4U, 2U)}) {
    EXPECT_EQ(messageOf(rankSumsPlan(ranks, shardRanks)), "accepted") << ranks;
    EXPECT_TRUE(isSound(rankSumsPlan(ranks, shardRanks).plan)) << ranks;
  }
}

TEST(RankSumsPlan, IsForGpus) {
  PlanBuilder builder = rankSumsPlan(2, 2);
  builder.plan.target = "cpu";
  builder.plan.objects[0]->level = "x86-64-v3";
  EXPECT_THAT(messageOf(builder),
              HasSubstr("reduce-scatter: expected a sum_kernel in sums where the target is cuda alone"));
}

} // namespace
} // namespace trainc::test
