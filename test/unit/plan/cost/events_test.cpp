// Tasks on streams, with times that follow by hand.
#include "plan/cost/events.h"

#include <gmock/gmock.h>

namespace trainc {
namespace {

using testing::ElementsAre;

constexpr uint32_t kCompute = 0, kLink = 1, kDisk = 2;

Schedule run(const std::vector<Task> &tasks, const std::vector<StreamSlowdown> &slowdowns = {{}, {}, {}}) {
  return runTasks(tasks, slowdowns);
}

TEST(Events, NothingTakesNoTime) {
  const Schedule schedule = run({});
  EXPECT_EQ(schedule.seconds, 0);
  EXPECT_TRUE(schedule.waits.empty());
}

TEST(Events, TasksOfAStreamFollowEachOther) {
  const Schedule schedule = run({{kCompute, 2, {}}, {kCompute, 0, {}}, {kCompute, 3, {}}});
  EXPECT_THAT(schedule.tasks, ElementsAre(TaskSpan{0, 2}, TaskSpan{2, 2}, TaskSpan{2, 5}));
  EXPECT_EQ(schedule.seconds, 5);
  EXPECT_EQ(schedule.streams[kCompute].busy, 5);
}

TEST(Events, StreamsRunBesideEachOther) {
  const Schedule schedule = run({{kLink, 3, {}}, {kCompute, 2, {}}, {kDisk, 4, {}}});
  EXPECT_THAT(schedule.tasks, ElementsAre(TaskSpan{0, 3}, TaskSpan{0, 2}, TaskSpan{0, 4}));
  EXPECT_EQ(schedule.seconds, 4);
  EXPECT_EQ(schedule.streams[kLink].exposed, 1);
  EXPECT_EQ(schedule.streams[kDisk].exposed, 2);
}

TEST(Events, ATaskTakesItsSecondsFromComputation) {
  const Schedule schedule = run({{kDisk, 4, {}}, {kCompute, 5, {}}}, {{}, {}, {.taken = 1}});
  EXPECT_THAT(schedule.tasks, ElementsAre(TaskSpan{0, 4}, TaskSpan{0, 6}));
  EXPECT_EQ(schedule.streams[kCompute].busy, 6);
}

TEST(Events, ComputationGoesOnBesideWhatTakesMore) {
  const Schedule schedule = run({{kDisk, 1, {}}, {kCompute, 1, {}}}, {{}, {}, {.taken = 5}});
  EXPECT_EQ(schedule.tasks[1], (TaskSpan{0, 1.9}));
}

TEST(Events, ATaskComesAfterOthers) {
  // A gather, a dependent task beside an independent one, and the sum of its results.
  const Schedule schedule = run({{kLink, 3, {}}, {kCompute, 1, {}}, {kCompute, 4, {0}}, {kLink, 2, {2}}});
  EXPECT_THAT(schedule.tasks, ElementsAre(TaskSpan{0, 3}, TaskSpan{0, 1}, TaskSpan{3, 7}, TaskSpan{7, 9}));
  ASSERT_EQ(schedule.waits.size(), 2u);
  EXPECT_EQ(schedule.waits[0].span, (TaskSpan{1, 3}));
  EXPECT_EQ(schedule.waits[0].task, 2u);
  EXPECT_EQ(schedule.waits[0].waitedFor, 0u);
  EXPECT_EQ(schedule.waits[1].span, (TaskSpan{7, 9}));
  EXPECT_EQ(schedule.waits[1].task, ComputeWait::kEnd);
  EXPECT_EQ(schedule.waits[1].waitedFor, 3u);
  EXPECT_EQ(schedule.streams[kLink].busy, 5);
  EXPECT_EQ(schedule.streams[kLink].exposed, 4);
}

TEST(Events, AStreamKeepsItsOrderWhereALaterTaskCouldBegin) {
  const Schedule schedule = run({{kCompute, 5, {}}, {kLink, 1, {0}}, {kLink, 1, {}}});
  EXPECT_THAT(schedule.tasks, ElementsAre(TaskSpan{0, 5}, TaskSpan{5, 6}, TaskSpan{6, 7}));
}

TEST(Events, ComputationSlowsTheLinkDown) {
  // At half of its rate for 4 seconds it does 2 of its 3.
  const Schedule schedule = run({{kLink, 3, {}}, {kCompute, 4, {}}}, {{}, {.share = 0.5}, {}});
  EXPECT_THAT(schedule.tasks, ElementsAre(TaskSpan{0, 5}, TaskSpan{0, 4}));
  EXPECT_EQ(schedule.streams[kLink].busy, 5);
  EXPECT_EQ(schedule.streams[kLink].exposed, 1);
}

TEST(Events, ASlowLinkEndsWhileComputationGoesOn) {
  const Schedule schedule =
      run({{kLink, 1, {}}, {kCompute, 4, {}}, {kCompute, 1, {0}}}, {{}, {.share = 0.5}, {}});
  EXPECT_THAT(schedule.tasks, ElementsAre(TaskSpan{0, 2}, TaskSpan{0, 4}, TaskSpan{4, 5}));
  EXPECT_TRUE(schedule.waits.empty());
  EXPECT_EQ(schedule.streams[kLink].exposed, 0);
}

TEST(Events, TasksThatEndTogetherLetTheNextBeginTogether) {
  const Schedule schedule =
      run({{kCompute, 0.3, {}}, {kLink, 0.1, {}}, {kLink, 0.2, {}}, {kCompute, 1, {2}}, {kDisk, 1, {0, 2}}});
  EXPECT_DOUBLE_EQ(schedule.tasks[3].begin, 0.3);
  EXPECT_DOUBLE_EQ(schedule.tasks[4].begin, 0.3);
  EXPECT_DOUBLE_EQ(schedule.seconds, 1.3);
}

TEST(Events, AChainThroughAllStreams) {
  const Schedule schedule = run({{kDisk, 1, {}}, {kLink, 1, {0}}, {kCompute, 1, {1}}, {kDisk, 1, {2}}});
  EXPECT_EQ(schedule.seconds, 4);
  EXPECT_EQ(schedule.streams[kDisk].exposed, 2);
  EXPECT_EQ(schedule.waits.front().span, (TaskSpan{0, 2}));
}

} // namespace
} // namespace trainc
