// The verifier catches every seeded fault in plans with collectives.
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

} // namespace
} // namespace trainc::test
