// Reduce-scatters of bf16 numbers into f32: which a plan may have, and how many bytes they write.
#include "test/unit/plan/plans/cuda_plan.h"
#include "test/unit/plan/verify/flow_interpreter.h"
#include "test/unit/plan/verify/verifier_support.h"

#include <functional>
#include <gmock/gmock.h>

namespace trainc::test {
namespace {

using testing::HasSubstr;

fb::CollectiveT &scatterOf(PlanBuilder &b) {
  return operation<fb::CollectiveT>(b, 1, b.plan.entries[1]->instructions.size() - 1);
}
fb::RangeT &scatteredRangeOf(PlanBuilder &b) { return *scatterOf(b).ranges[0]; }
void moveDestination(PlanBuilder &b, uint64_t offset, uint64_t rankStride) {
  fb::Operand &destination = *scatteredRangeOf(b).destination;
  destination = at(destination.buffer(), offset, 0, rankStride);
}
fb::BufferT &bufferNamed(PlanBuilder &b, std::string_view name) {
  return **std::ranges::find(b.plan.buffers, name, [](const auto &buffer) { return buffer->name; });
}

struct WideningRule {
  const char *name;
  std::function<void(PlanBuilder &)> breakIt;
  const char *message;
};

const WideningRule kWideningRules[] = {
    {"ofF32", [](auto &b) { scatteredRangeOf(b).dtype = fb::DType::F32; },
     "reduce-scatter: expected a reduce-scatter of bf16 or f16 where a range widens, found values of f32"},
    {"ofASumOverAll", [](auto &b) { scatterOf(b).kind = fb::CollectiveKind::AllReduce; },
     "all-reduce: expected a reduce-scatter of bf16 or f16 where a range widens, found values of bf16"},
    {"ofAGather", [](auto &b) { scatterOf(b).kind = fb::CollectiveKind::AllGather; },
     "all-gather: expected a reduce-scatter of bf16 or f16 where a range widens"},
    {"fromOtherNumbers", [](auto &b) { scatteredRangeOf(b).dtype = fb::DType::F16; },
     "reduce-scatter source: expected a buffer of f16, found 'low' of bf16"},
    {"intoOtherNumbers", [](auto &b) { bufferNamed(b, "wide").dtype = fb::DType::BF16; },
     "reduce-scatter destination: expected a buffer of f32, found 'wide' of bf16"},
    {"unsaid", [](auto &b) { scatteredRangeOf(b).widens = false; },
     "reduce-scatter destination: expected a buffer of bf16, found 'wide' of f32"},
    {"destinationExtent", [](auto &b) { bufferNamed(b, "wide").bytes -= 4; },
     "reduce-scatter destination: expected it within the 764 bytes"},
    {"elementAlignment", [](auto &b) { moveDestination(b, 2, 0); }, "expected an offset in multiples of 4"},
    {"partByRank", [](auto &b) { moveDestination(b, 0, kWhole); },
     "expected a rank stride of 0 or, for the rank's part of a whole, 384, found 192"},
};

class WideningRange : public testing::TestWithParam<WideningRule> {};

TEST_P(WideningRange, IsRefusedWithItsMessage) {
  PlanBuilder builder = wideningPlan(2, 2);
  GetParam().breakIt(builder);
  EXPECT_THAT(messageOf(builder), HasSubstr(GetParam().message));
}

TEST(WideningRanges, NeedAKernelOnGpus) {
  EXPECT_THAT(messageOf(forCuda(wideningPlan(2, 2))),
              HasSubstr("reduce-scatter: expected a sum_kernel where a range widens and the target is cuda"));
}

INSTANTIATE_TEST_SUITE_P(Plan, WideningRange, testing::ValuesIn(kWideningRules),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(WideningPlan, IsAcceptedAndSoundForAnyRanks) {
  for (const auto &[ranks, shardRanks] : {std::pair(2U, 2U), std::pair(3U, 3U), std::pair(4U, 2U)}) {
    EXPECT_EQ(messageOf(wideningPlan(ranks, shardRanks)), "accepted") << ranks;
    EXPECT_TRUE(isSound(wideningPlan(ranks, shardRanks).plan)) << ranks;
  }
}

// All that a reduce-scatter writes counts as written: 4 bytes for each of a part's elements, and no more.
TEST(WideningPlan, WritesF32) {
  for (const uint64_t bytes : {kWhole * 2, kWhole * 2 + 4}) {
    PlanBuilder builder = wideningPlan(2, 2);
    const uint32_t sums = builder.buffer("sums", PlanBuilder::kScratch, fb::DType::F32, kWhole),
                   kept = builder.buffer("kept", PlanBuilder::kPersistent, fb::DType::F32, kWhole);
    *scatteredRangeOf(builder).destination = at(sums);
    PlanBuilder::Body &update = builder.plan.entries[1]->instructions;
    builder.copy(update, at(sums), at(kept), bytes);
    builder.after(update, {static_cast<uint32_t>(update.size()) - 2});
    if (bytes == kWhole * 2)
      EXPECT_EQ(messageOf(builder), "accepted");
    else
      EXPECT_THAT(messageOf(builder), HasSubstr("copy source: expected bytes written as 'sums', found some "
                                                "that nothing in the entry has written before"));
  }
}

} // namespace
} // namespace trainc::test
