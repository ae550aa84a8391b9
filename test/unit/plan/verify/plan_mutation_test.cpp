// The verifier catches every seeded fault that does harm, in plans with collectives, loops and parts by the
// rank.
#include "test/unit/plan/plans/cuda_plan.h"
#include "test/unit/plan/verify/flow_interpreter.h"
#include "test/unit/plan/verify/plan_mutants.h"

#include <gtest/gtest.h>
#include <map>

namespace trainc::test {
namespace {

class Mutations : public testing::TestWithParam<std::pair<uint32_t, uint32_t>> {};

/// Applies each mutant to the plan, and returns how many of each kind there are.
std::map<std::string, int> expectRefused(PlanBuilder plan) {
  std::map<std::string, int> counts;
  for (const Mutant &mutant : mutants(plan.plan)) {
    PlanBuilder builder = plan;
    mutant.apply(builder.plan);
    EXPECT_FALSE(PlanBytes(builder.payload()).read().ok()) << mutant.what;
    ++counts[mutant.kind];
  }
  return counts;
}

TEST_P(Mutations, AreAllRefused) {
  std::map<std::string, int> counts = expectRefused(wideningPlan(GetParam().first, GetParam().second));
  for (const char *kind : {"drop", "early", "stream", "swap", "overlap", "lengthen", "widen"})
    fmt::print("{} mutants of kind {}\n", counts[kind], kind);
  EXPECT_EQ(counts.size(), 7U);
}

TEST_P(Mutations, OfSumsByKernelsAreAllRefused) {
  std::map<std::string, int> counts = expectRefused(rankSumsPlan(GetParam().first, GetParam().second));
  EXPECT_GT(counts["sum"], 0);
  EXPECT_GT(counts["overlap"], 0);
  EXPECT_EQ(counts.size(), 8U);
}

INSTANTIATE_TEST_SUITE_P(Ranks, Mutations,
                         testing::Values(std::pair(2U, 2U), std::pair(3U, 3U), std::pair(4U, 2U)),
                         [](const auto &info) {
                           return fmt::format("{}by{}", info.param.first, info.param.second);
                         });

TEST(SpaceMutations, OfCopiesBetweenSpacesAreAllRefused) {
  std::map<std::string, int> counts = expectRefused(spacesPlan());
  for (const char *kind : {"drop", "early", "stream", "swap", "overlap", "lengthen"})
    fmt::print("{} mutants of kind {}\n", counts[kind], kind);
  EXPECT_EQ(counts["drop"], 7);
}

TEST(LibraryMutations, OfCallsInTheirOrderAreAllRefused) {
  std::map<std::string, int> counts = expectRefused(libraryPlan());
  for (const char *kind : {"stream", "swap", "overlap", "lengthen"})
    EXPECT_GT(counts[kind], 0) << kind;
}

/// spacesPlan() with a second state on disk, of the size of the first one.
PlanBuilder twoStatesPlan() {
  PlanBuilder b = spacesPlan();
  const fb::BufferT stored = *b.plan.buffers.back();
  const uint64_t many = stored.bytes / 4;
  const uint32_t other = b.buffer("other", stored.arena, fb::DType::F32, many),
                 v = b.buffer("v", PlanBuilder::kScratch, fb::DType::F32, many, fb::Role::Activation),
                 u = b.buffer("u", PlanBuilder::kScratch, fb::DType::F32, many, fb::Role::Activation);
  constexpr uint32_t w = 0, add = 0, inverse = 1; // as in spacesPlan()
  PlanBuilder::Body &body = b.plan.entries[0]->instructions;
  const uint32_t second = uint32_t(body.size());
  b.launch(body, inverse, {at(w), at(v)});
  b.transfer(body, fb::Stream::Disk, at(v), at(other), stored.bytes);
  b.after(body, {second});
  b.transfer(body, fb::Stream::Disk, at(other), at(u), stored.bytes);
  b.launch(body, add, {at(u), at(v), at(w)});
  b.after(body, {second + 2});
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
                    HandMade{"sums", [] { return rankSumsPlan(4, 2); }, {"argument", "place"}},
                    HandMade{"groups", [] { return wideningPlan(4, 2); }, {"argument", "place"}},
                    HandMade{"loops", [] { return loopsPlan(6); }, {"argument", "body", "stride", "place"}},
                    HandMade{"spaces", spacesPlan, {"copy", "buffer", "says", "reorder"}},
                    HandMade{"host", hostKernelsPlan, {"argument", "copy", "buffer", "says"}},
                    HandMade{"states", twoStatesPlan, {"copy", "state", "buffer", "says", "reorder"}},
                    HandMade{"libraries", libraryPlan, {"argument", "stride", "library"}}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace trainc::test
