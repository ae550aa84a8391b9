// Groups of ranks, and the end of their waits, on one host.
#include "runtime/comm/grid.h"
#include "test/unit/runtime/comm/support.h"

#include <gmock/gmock.h>

namespace trainc {
namespace {

using test::kReplica;
using test::kShard;
using test::Ranks;
using testing::HasSubstr;

LocalOptions options(uint32_t shardRanks, double timeoutSeconds = test::kNever) {
  return {.timeoutSeconds = timeoutSeconds, .shardRanks = shardRanks};
}

/// Starts an all-reduce in place.
void start(Ranks &ranks, uint32_t rank, fb::Group group, std::span<float> buffer) {
  ranks.start(rank, 0, {.kind = MeetingKind::kAllReduce, .group = group}, buffer, buffer);
}

TEST(Grid, DividesRanks) {
  const Grid grid{.ranks = 6, .shardRanks = 2};
  EXPECT_EQ(grid.members(fb::Group::All, 3).count, 6U);
  const Members shard = grid.members(kShard, 3), replica = grid.members(kReplica, 3);
  EXPECT_THAT((std::array{shard.count, shard.rankAt(0), shard.rankAt(1), shard.placeOf(3)}),
              testing::ElementsAre(2, 2, 3, 1));
  EXPECT_THAT((std::array{replica.count, replica.rankAt(0), replica.rankAt(2), replica.placeOf(3)}),
              testing::ElementsAre(3, 1, 5, 1));
  std::vector<uint32_t> sets;
  for (const auto group : {fb::Group::All, kShard, kReplica})
    for (uint32_t rank = 0; rank < 6; ++rank)
      sets.push_back(grid.setOf(group, rank));
  EXPECT_THAT(sets, testing::ElementsAre(0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 4, 5, 4, 5));
  EXPECT_EQ(grid.sets(), 6U);
}

TEST(Grid, ShardGroupsDivideTheRanks) {
  for (const uint32_t shardRanks : {0U, 4U, 12U}) {
    const auto group = LocalGroup::create(6, 4096, options(shardRanks));
    EXPECT_EQ(group.status().code(), StatusCode::kInvalidInput);
    EXPECT_EQ(group.status().message(),
              fmt::format("6 ranks cannot be divided into shard groups of {}", shardRanks));
  }
}

TEST(Groups, OthersMayBeElsewhere) {
  Ranks ranks(4, 4096, options(2));
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
  Ranks ranks(4, 4096, options(2));
  const auto buffers = ranks.allocate(8);
  start(ranks, 0, kShard, buffers[0]);
  start(ranks, 2, kReplica, buffers[2]);
  ranks[3].fail("no space left on device");
  EXPECT_THAT(ranks.wait(0, 0).message(), HasSubstr("rank 3 failed: no space left on device"));
  EXPECT_THAT(ranks.wait(2, 0).message(), HasSubstr("rank 3 failed: no space left on device"));
}

// Rank 0 waits for rank 2, which waits for rank 3: that one is to blame, although rank 2 has not arrived.
TEST(Groups, TheRankThatHangsIsNamedToThoseWhoWaitForOthers) {
  Ranks ranks(4, 4096, options(2, 1));
  const auto buffers = ranks.allocate(8);
  start(ranks, 0, kReplica, buffers[0]);
  start(ranks, 2, kShard, buffers[2]);
  for (const uint32_t rank : {0U, 2U})
    EXPECT_THAT(ranks.wait(rank, 0).message(),
                HasSubstr("rank 3 failed: it did not arrive within 1 s: it has died, hangs or is stopped"));
}

TEST(Groups, WaitsInACircleEnd) {
  Ranks ranks(4, 4096, options(2, 0.5));
  const auto buffers = ranks.allocate(8);
  for (uint32_t rank = 0; rank < 4; ++rank)
    start(ranks, rank, rank == 0 || rank == 3 ? kShard : kReplica, buffers[rank]);
  for (uint32_t rank = 0; rank < 4; ++rank)
    EXPECT_THAT(ranks.wait(rank, 0).message(),
                HasSubstr("it waits for ranks that wait for it: their plans differ"));
}

TEST(Groups, PlansThatDifferAreFound) {
  Ranks ranks(4, 4096, options(2));
  const auto buffers = ranks.allocate(8);
  for (uint32_t rank = 0; rank < 4; ++rank)
    start(ranks, rank, kShard, rank == 3 ? buffers[rank].subspan(4) : buffers[rank]);
  EXPECT_THAT(
      ranks.wait(2, 0).message(),
      HasSubstr("rank 3 failed: its plan differs: it started all-reduce of 4 f32 over the shard group "
                "from byte 16 to byte 16 where rank 2 started all-reduce of 8 f32"));
}

} // namespace
} // namespace trainc
