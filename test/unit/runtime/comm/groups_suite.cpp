// Collectives over shard groups and replica groups, on every engine.
#include "test/unit/runtime/comm/engine.h"
#include "test/unit/runtime/comm/support.h"

#include <algorithm>

namespace trainc {
namespace {

using test::Floats;
using test::kReplica;
using test::kShard;
using test::Rank;

class GroupsTest : public testing::TestWithParam<test::Job> {
protected:
  uint32_t n = GetParam().grid.ranks, k = GetParam().grid.shardRanks;
};

// Compares a gradient's sum under hybrid sharding with that under flat sharding. All jobs have shard groups
// of a power of two, or one group.
TEST_P(GroupsTest, SumsOverShardsThenReplicasAreTheFlatSum) {
  test::onRanks(GetParam(), uint64_t{1} << 20, [this](Rank &rank) {
    const uint64_t size = 3001;
    const Floats source = rank.allocateValues(size * k), part = rank.allocate(size),
                 gathered = rank.allocate(size * k);
    rank.start(0, {.kind = MeetingKind::kReduceScatter, .axes = kShard}, source, part);
    rank.start(1, {.kind = MeetingKind::kAllReduce, .axes = kReplica}, part, part);
    rank.start(2, {.kind = MeetingKind::kAllGather, .axes = kShard}, part, gathered);
    for (const uint32_t slot : {0, 1, 2})
      rank.wait(slot);
    EXPECT_TRUE(test::sameBits(gathered, test::treeSums(n, size * k))) << "rank " << rank.number();
  });
}

TEST_P(GroupsTest, BytesAreThoseOfARing) {
  test::onRanks(GetParam(), uint64_t{2} << 20, [](Rank &rank) {
    for (const Axes axes : {kShard, kReplica}) {
      const Members members = rank.grid().members(axes, rank.number());
      const uint64_t size = 3001, begin = members.placeOf(rank.number()) * size;
      const Floats whole = rank.allocate(size * members.count), part = whole.subspan(begin, size);
      rank.run({.kind = MeetingKind::kAllReduce, .axes = axes}, whole, whole);
      rank.expectBytesOfARing();
      const Floats apart = rank.allocate(size);
      rank.run({.kind = MeetingKind::kReduceScatter, .axes = axes}, whole, apart);
      rank.expectBytesOfARing();
      rank.run({.kind = MeetingKind::kAllGather, .axes = axes}, part, whole);
      rank.expectBytesOfARing();
    }
  });
}

// The first shard group runs collectives that the others do not run.
TEST_P(GroupsTest, AreIndependent) {
  test::onRanks(GetParam(), 4096, [this](Rank &rank) {
    const Floats buffer = rank.allocate(8);
    if (rank.number() < k)
      for (int round = 0; round < 3; ++round) {
        std::ranges::fill(buffer, 1.0F);
        rank.run({.kind = MeetingKind::kAllReduce, .axes = kShard}, buffer, buffer);
        EXPECT_EQ(buffer[7], static_cast<float>(k));
      }
    std::ranges::fill(buffer, 1.0F);
    rank.run({.kind = MeetingKind::kAllReduce, .axes = kReplica}, buffer, buffer);
    EXPECT_EQ(buffer[7], static_cast<float>(n) / static_cast<float>(k));
  });
}

INSTANTIATE_TEST_SUITE_P(Jobs, GroupsTest, testing::ValuesIn(test::jobs()), test::nameOf);

} // namespace
} // namespace trainc
