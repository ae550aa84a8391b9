// The entries of a step, with times that follow by hand.
#include "plan/cost/entry_runs.h"

#include <gmock/gmock.h>

namespace trainc {
namespace {

using testing::ElementsAre;

constexpr uint32_t kComputes = 0, kStores = 1;
const std::vector<StreamSlowdown> kNoSlowdowns(2);

/// Computes for so long, and then stores.
EntryTasks storing(double computes, double stores, uint64_t runs = 1) {
  return {.tasks = {{kComputes, computes, {}}, {kStores, stores, {0}, /*outlasts=*/true}}, .runs = runs};
}

std::vector<TaskWait> noWaits(size_t, size_t) { return {}; }

std::vector<EntryRuns> step(const std::vector<EntryTasks> &entries, const WaitsForPrevious &waits = noWaits) {
  return runStep(entries, waits, kNoSlowdowns);
}

TEST(EntryRuns, WithoutWhatOutlastsEachRunsAlone) {
  const auto runs =
      step({{.tasks = {{kComputes, 2, {}}, {kStores, 3, {0}}}, .runs = 4}, {.tasks = {{kComputes, 1, {}}}}});
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].runs, 4U);
  EXPECT_EQ(runs[0].schedule.seconds, 5);
  EXPECT_EQ(runs[1].schedule.seconds, 1);
}

TEST(EntryRuns, AStoreGoesOnBesideTheNextStep) {
  const auto runs = step({storing(5, 3)});
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].schedule.seconds, 5);
  EXPECT_THAT(runs[0].schedule.tasks, ElementsAre(TaskSpan{0, 5}, TaskSpan{5, 8}));
  EXPECT_EQ(runs[0].schedule.streams[kStores].busy, 3) << "of the step before";
  EXPECT_EQ(runs[0].schedule.streams[kStores].exposed, 0);
}

TEST(EntryRuns, AStepIsNoShorterThanItsStores) {
  const auto runs = step({storing(2, 3)});
  EXPECT_EQ(runs[0].schedule.seconds, 3);
  EXPECT_EQ(runs[0].schedule.streams[kStores].exposed, 1);
}

TEST(EntryRuns, WhoNeedsItsMemoryWaits) {
  EntryTasks entry = storing(5, 3);
  entry.tasks.insert(entry.tasks.begin(), {kComputes, 1, {}});
  entry.tasks[2].after = {1};
  const auto runs = step({entry}, [](size_t, size_t) { return std::vector<TaskWait>{{1, 2}}; });
  EXPECT_THAT(runs[0].schedule.tasks, ElementsAre(TaskSpan{0, 1}, TaskSpan{3, 8}, TaskSpan{8, 11}));
  ASSERT_EQ(runs[0].schedule.waits.size(), 1U);
  EXPECT_EQ(runs[0].schedule.waits[0].task, 1U);
  EXPECT_EQ(runs[0].schedule.waits[0].waitedFor, ComputeWait::kBefore);
  EXPECT_EQ(runs[0].schedule.seconds, 8);
}

TEST(EntryRuns, ACopyOfItsOwnComesAfterIt) {
  const EntryTasks entry{
      .tasks = {{kStores, 1, {}}, {kComputes, 2, {0}}, {kStores, 3, {1}, /*outlasts=*/true}}};
  const auto runs = step({entry});
  EXPECT_THAT(runs[0].schedule.tasks, ElementsAre(TaskSpan{3, 4}, TaskSpan{4, 6}, TaskSpan{6, 9}));
}

TEST(EntryRuns, TheFirstRunMeetsNothingIfTheLastEntryWaitsForAll) {
  const EntryTasks last{.tasks = {{kComputes, 1, {}}}};
  const auto runs = step({storing(1, 2, 5), last}, [](size_t, size_t entry) {
    return entry == 1 ? std::vector<TaskWait>{{0, 1}} : std::vector<TaskWait>{};
  });
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[0].runs, 1U);
  EXPECT_EQ(runs[0].schedule.seconds, 1);
  EXPECT_EQ(runs[1].runs, 4U);
  EXPECT_EQ(runs[1].schedule.seconds, 2);
  EXPECT_EQ(runs[2].schedule.seconds, 3);
}

/// Only the first of many micro-steps overlaps with the copies that the update left.
TEST(EntryRuns, TheFirstOfManyRunsMeetsTheUpdates) {
  const EntryTasks microStep{.tasks = {{kComputes, 1, {}}, {kComputes, 2, {}}}, .runs = 4};
  const auto runs = step({microStep, storing(1, 2)}, [](size_t previous, size_t entry) {
    EXPECT_EQ(previous, 1U);
    return entry == 0 ? std::vector<TaskWait>{{1, 1}} : std::vector<TaskWait>{};
  });
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_THAT(runs[0].schedule.tasks, ElementsAre(TaskSpan{0, 1}, TaskSpan{2, 4}));
  EXPECT_EQ(runs[0].runs, 1U);
  EXPECT_EQ(runs[1].runs, 3U);
  EXPECT_EQ(runs[1].schedule.seconds, 3);
  EXPECT_EQ(runs[2].schedule.seconds, 1);
}

/// One second of left-over copies spans five micro-steps of 0.2 seconds, and the update overlaps with none of
/// them.
TEST(EntryRuns, WhatIsLeftMayLastForSeveralRuns) {
  const EntryTasks microStep{.tasks = {{kComputes, 0.25, {}}}, .runs = 8},
      update{.tasks = {{kStores, 1, {}}, {kComputes, 1, {0}}, {kStores, 1, {1}, /*outlasts=*/true}}};
  const auto runs = step({microStep, update});
  ASSERT_EQ(runs.size(), 6U) << "four beside it, the others, and the update";
  EXPECT_EQ(runs[3].schedule.streams[kStores].busy, 0.25);
  EXPECT_EQ(runs[4].runs, 4U);
  EXPECT_EQ(runs[4].schedule.streams[kStores].busy, 0);
  EXPECT_THAT(runs[5].schedule.tasks, ElementsAre(TaskSpan{0, 1}, TaskSpan{1, 2}, TaskSpan{2, 3}));
}

/// An entry that leaves something in each run meets its own.
TEST(EntryRuns, RunsThatLeaveSomethingAreAlikeFromTheSecondOn) {
  const auto runs = step({storing(1, 2, 5)});
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].runs, 5U);
  EXPECT_EQ(runs[0].schedule.seconds, 2);
}

/// The copy overlaps with a short entry, and with the one after it.
TEST(EntryRuns, AnEntryThatStoresNothingPassesItOn) {
  const EntryTasks begin{.tasks = {{kComputes, 1, {}}}};
  EntryTasks entry = storing(5, 4);
  const auto runs = step({begin, entry}, [](size_t previous, size_t entry) {
    EXPECT_EQ(previous, 1U);
    return entry == 1 ? std::vector<TaskWait>{{0, 1}} : std::vector<TaskWait>{};
  });
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].schedule.seconds, 1);
  EXPECT_EQ(runs[0].schedule.streams[kStores].busy, 1);
  EXPECT_THAT(runs[1].schedule.tasks, ElementsAre(TaskSpan{3, 8}, TaskSpan{8, 12}));
}

} // namespace
} // namespace trainc
