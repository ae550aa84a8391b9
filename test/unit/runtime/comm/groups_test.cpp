// Groups of ranks, and the end of their waits, on one host.
#include "test/unit/common/grid.h"
#include "test/unit/runtime/comm/support.h"

#include <gmock/gmock.h>
#include <map>
#include <set>

namespace trainc {
namespace {

using test::kReplica;
using test::kShard;
using test::Ranks;
using testing::HasSubstr;

constexpr test::Grid kPairs{4, 2};

LocalOptions within(double timeoutSeconds) { return {.timeoutSeconds = timeoutSeconds}; }

/// Starts an all-reduce in place.
void start(Ranks &ranks, uint32_t rank, Axes axes, std::span<float> buffer) {
  ranks.start(rank, 0, {.kind = MeetingKind::kAllReduce, .axes = axes}, buffer, buffer);
}

TEST(Mesh, HasGroupsAlongItsAxes) {
  const Mesh mesh({{"replica", 3}, {"shard", 2}, {"tensor", 2}});
  EXPECT_EQ(mesh.ranks(), 12U);
  EXPECT_EQ(mesh.members(kAllAxes, 3).count, 12U);
  const Members shard = mesh.members(kShard, 7), both = mesh.members({0, 2}, 7),
                tensor = mesh.members({2, 3}, 7);
  EXPECT_THAT((std::array{shard.first, shard.stride, shard.count, shard.placeOf(7)}),
              testing::ElementsAre(5, 2, 2, 1));
  EXPECT_THAT((std::array{both.first, both.stride, both.count, both.placeOf(7)}),
              testing::ElementsAre(1, 2, 6, 3));
  EXPECT_THAT((std::array{tensor.first, tensor.stride, tensor.count, tensor.placeOf(7)}),
              testing::ElementsAre(6, 1, 2, 1));
  EXPECT_EQ(mesh.textOf({0, 2}), "replica x shard");
  EXPECT_EQ(mesh.text(), "replica 3 x shard 2 x tensor 2");
}

TEST(Mesh, NumbersEachGroupOnce) {
  const Mesh mesh({{"replica", 3}, {"shard", 2}, {"tensor", 2}});
  std::map<uint32_t, std::set<uint32_t>> groups;
  std::set<size_t> choices;
  for (const Axes axes : {Axes{0, 1}, Axes{1, 2}, Axes{2, 3}, Axes{0, 2}, Axes{1, 3}, kAllAxes}) {
    choices.insert(mesh.choiceOf(axes));
    for (uint32_t rank = 0; rank < 12; ++rank) {
      const auto [group, isNew] = groups.try_emplace(mesh.groupOf(axes, rank));
      EXPECT_EQ(isNew, mesh.members(axes, rank).placeOf(rank) == 0) << rank;
      group->second.insert(rank);
    }
  }
  EXPECT_EQ(choices.size(), 6U);
  EXPECT_EQ(groups.size(), mesh.groups());
  EXPECT_EQ(groups.rbegin()->first, mesh.groups() - 1);
}

TEST(Groups, OthersMayBeElsewhere) {
  Ranks ranks(kPairs, 4096);
  const auto buffers = ranks.allocateValues(8);
  for (int round = 0; round < 3; ++round) {
    start(ranks, 0, kShard, buffers[0]);
    start(ranks, 1, kShard, buffers[1]);
    EXPECT_TRUE(ranks.wait(0, 0).ok() && ranks.wait(1, 0).ok()) << "without ranks 2 and 3";
  }
  start(ranks, 0, kReplica, buffers[0]);
  for (const uint32_t rank : {2U, 3U})
    start(ranks, rank, kShard, buffers[rank]);
  EXPECT_TRUE(ranks.wait(2, 0).ok() && ranks.wait(3, 0).ok()) << "while rank 0 waits for 2";
  start(ranks, 2, kReplica, buffers[2]);
  EXPECT_TRUE(ranks.wait(0, 0).ok() && ranks.wait(2, 0).ok()) << "without ranks 1 and 3";
}

TEST(Groups, AFailureElsewhereEndsTheWait) {
  Ranks ranks(kPairs, 4096);
  const auto buffers = ranks.allocate(8);
  start(ranks, 0, kShard, buffers[0]);
  start(ranks, 2, kReplica, buffers[2]);
  ranks[3].fail("no space left on device");
  EXPECT_THAT(ranks.wait(0, 0).message(), HasSubstr("rank 3 failed: no space left on device"));
  EXPECT_THAT(ranks.wait(2, 0).message(), HasSubstr("rank 3 failed: no space left on device"));
}

// Rank 0 waits for rank 2, which waits for rank 3: that one is to blame, although rank 2 has not arrived.
TEST(Groups, TheRankThatHangsIsNamedToThoseWhoWaitForOthers) {
  Ranks ranks(kPairs, 4096, within(1));
  const auto buffers = ranks.allocate(8);
  start(ranks, 0, kReplica, buffers[0]);
  start(ranks, 2, kShard, buffers[2]);
  for (const uint32_t rank : {0U, 2U})
    EXPECT_THAT(ranks.wait(rank, 0).message(),
                HasSubstr("rank 3 failed: it did not arrive within 1 s: it has died, hangs or is stopped"));
}

TEST(Groups, WaitsInACircleEnd) {
  Ranks ranks(kPairs, 4096, within(0.5));
  const auto buffers = ranks.allocate(8);
  for (uint32_t rank = 0; rank < 4; ++rank)
    start(ranks, rank, rank == 0 || rank == 3 ? kShard : kReplica, buffers[rank]);
  for (uint32_t rank = 0; rank < 4; ++rank)
    EXPECT_THAT(ranks.wait(rank, 0).message(),
                HasSubstr("it waits for ranks that wait for it: their plans differ"));
}

TEST(Groups, PlansThatDifferAreFound) {
  Ranks ranks(kPairs, 4096);
  const auto buffers = ranks.allocate(8);
  for (uint32_t rank = 0; rank < 4; ++rank)
    start(ranks, rank, kShard, rank == 3 ? buffers[rank].subspan(4) : buffers[rank]);
  EXPECT_THAT(ranks.wait(2, 0).message(),
              HasSubstr("rank 3 failed: its plan differs: it started all-reduce of 4 f32 over shard "
                        "from byte 16 to byte 16 where rank 2 started all-reduce of 8 f32"));
}

} // namespace
} // namespace trainc
