// The verifier catches every seeded fault that does harm, in plans with collectives, loops and parts by the
// rank.
#include "test/unit/runtime/flow_interpreter.h"
#include "test/unit/runtime/plan_builder.h"
#include "test/unit/runtime/plan_mutants.h"

#include <gtest/gtest.h>
#include <map>

namespace trainc::test {
namespace {

class Mutations : public testing::TestWithParam<std::pair<uint32_t, uint32_t>> {};

TEST_P(Mutations, AreAllRefused) {
  const auto [ranks, shardRanks] = GetParam();
  const PlanBuilder plan = ranksPlan(ranks, shardRanks);
  std::map<std::string, int> counts;
  for (const Mutant &mutant : mutants(plan.plan)) {
    PlanBuilder builder = ranksPlan(ranks, shardRanks);
    mutant.apply(builder.plan);
    EXPECT_FALSE(PlanBytes(builder.payload()).read().ok()) << mutant.what;
    ++counts[mutant.kind];
  }
  for (const char *kind : {"drop", "early", "stream", "swap", "overlap", "lengthen"})
    fmt::print("{} mutants of kind {}\n", counts[kind], kind);
  EXPECT_EQ(counts.size(), 6U);
}

INSTANTIATE_TEST_SUITE_P(Ranks, Mutations,
                         testing::Values(std::pair(2U, 2U), std::pair(3U, 3U), std::pair(4U, 2U)),
                         [](const auto &info) {
                           return fmt::format("{}by{}", info.param.first, info.param.second);
                         });

/// Ranks of one shard group run a loop: slices of x go through a value in place, and a sum that is carried
/// from one iteration to the next, to slices of y. Each rank then takes its part of y.
PlanBuilder loopsPlan(uint32_t ranks) {
  constexpr uint64_t slice = 128, many = 6;
  PlanBuilder b;
  b.plan.ranks = b.plan.shard_ranks = ranks;
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

struct HandMade {
  const char *name;
  PlanBuilder (*make)();
  std::vector<std::string> kinds; ///< all that it has
};

class AddressMutations : public testing::TestWithParam<HandMade> {};

TEST_P(AddressMutations, AreRefusedOrHarmless) {
  const PlanBuilder plan = GetParam().make();
  ASSERT_TRUE(PlanBytes(plan.payload()).read().ok());
  std::map<std::string, std::map<bool, int>> refused;
  for (const Mutant &mutant : addressMutants(plan.plan)) {
    PlanBuilder builder = GetParam().make();
    mutant.apply(builder.plan);
    const bool isRefused = !PlanBytes(builder.payload()).read().ok();
    EXPECT_TRUE(isRefused || isSound(builder.plan)) << mutant.what;
    ++refused[mutant.kind][isRefused];
  }
  for (const std::string &kind : GetParam().kinds) {
    fmt::print("{} mutants of kind {} refused, {} harmless\n", refused[kind][true], kind,
               refused[kind][false]);
    EXPECT_GT(refused[kind][true], 0) << kind;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Plans, AddressMutations,
    testing::Values(HandMade{"full", fullPlan, {"argument", "stride"}},
                    HandMade{"ranks", [] { return ranksPlan(3, 3); }, {"argument", "place"}},
                    HandMade{"groups", [] { return ranksPlan(4, 2); }, {"argument", "place"}},
                    HandMade{"loops", [] { return loopsPlan(6); }, {"argument", "body", "stride", "place"}}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace trainc::test
