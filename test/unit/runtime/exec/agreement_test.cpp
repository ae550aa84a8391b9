#include "runtime/exec/agreement.h"

#include "test/unit/plan/plans/plan_builder.h"
#include "test/unit/runtime/rank_threads.h"

#include <gmock/gmock.h>

namespace trainc::test {
namespace {

/// The status on each of three ranks that compare these values.
template <typename ValuesOf> std::array<Status, 3> compare(ValuesOf valuesOf) {
  std::array<Status, 3> told;
  PlanBytes bytes(ranksPlan(3, 3).payload());
  onRanks(**bytes.read(), [&](Communicator &communicator) {
    ControlChannel control(&communicator);
    const std::vector<NamedValue> values = valuesOf(control.rank());
    told[control.rank()] = checkSame(control, values);
    communicator.fail("it leaves at once"); // the others know already
  });
  return told;
}

TEST(Agreement, OneAloneAgrees) {
  ControlChannel control(nullptr);
  const NamedValue seed{"--seed", "1"};
  EXPECT_TRUE(checkSame(control, std::span(&seed, 1)).ok());
}

TEST(Agreement, TheSameOnAllRanksIsRight) {
  const auto told = compare([](uint32_t) { return std::vector<NamedValue>(kMaxValues, {"--seed", "1"}); });
  for (const Status &status : told)
    EXPECT_TRUE(status.ok()) << status.message();
}

TEST(Agreement, TheFirstDifferenceIsNamedOnAllRanks) {
  const auto told = compare([](uint32_t rank) {
    return std::vector<NamedValue>{
        {"--steps", "9"}, {"--seed", rank == 2 ? "2" : "1"}, {"--data", rank == 1 ? "b" : "a"}};
  });
  for (const Status &status : told) {
    EXPECT_EQ(status.exitCode(), 2);
    EXPECT_EQ(status.message(), "--seed: expected the same on all ranks, found 1 on rank 0 and 2 on rank 2; "
                                "start all ranks alike");
  }
}

TEST(Agreement, LongValuesDifferInTheirEnds) {
  const std::string begin(1000, 'x');
  const auto told = compare([&](uint32_t rank) {
    return std::vector<NamedValue>{{"--generate", begin + (rank == 1 ? "a" : "b")}};
  });
  for (const Status &status : told) {
    EXPECT_THAT(status.message(), testing::StartsWith("--generate: expected the same"));
    EXPECT_LT(status.message().size(), 700U);
  }
}

} // namespace
} // namespace trainc::test
