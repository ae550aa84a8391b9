// Exchanges between ranks on nodes, with times that follow by hand.
#include "plan/cost/collective_seconds.h"

#include <gtest/gtest.h>

namespace trainc {
namespace {

Machine nodesOf(uint32_t ranks) {
  Machine machine;
  machine.linkBytesPerSecond = 100;
  machine.networkBytesPerSecond = 40;
  machine.meetSeconds = 1;
  machine.linkHopSeconds = 0.01;
  machine.networkHopSeconds = 0.1;
  machine.nodeRanks = ranks;
  return machine;
}

TEST(Ring, StaysInANode) {
  const Ring ring = ringOf({.all = 8, .members = 8, .stride = 1}, 8);
  EXPECT_EQ(ring.nodes, 1u);
  EXPECT_EQ(ring.leavingNode, 0u);
}

TEST(Ring, ShardGroupsWithinNodesDoNotLeaveThem) {
  EXPECT_EQ(ringOf({.all = 32, .members = 8, .stride = 1}, 8).leavingNode, 0u);
  EXPECT_EQ(ringOf({.all = 32, .members = 4, .stride = 1}, 8).leavingNode, 0u);
}

TEST(Ring, OfAllRanksLeavesEachNodeOnce) {
  const Ring ring = ringOf({.all = 32, .members = 32, .stride = 1}, 8);
  EXPECT_EQ(ring.nodes, 4u);
  EXPECT_EQ(ring.leavingNode, 1u);
}

TEST(Ring, EachReplicaGroupLeavesItsNodes) {
  // Ranks 0, 8, 16, 24 and so on: eight groups, of one rank a node.
  const Ring ring = ringOf({.all = 32, .members = 4, .stride = 8}, 8);
  EXPECT_EQ(ring.nodes, 4u);
  EXPECT_EQ(ring.leavingNode, 8u);
  // Ranks 0, 4, 8, 12 and so on: four groups, of two ranks a node.
  EXPECT_EQ(ringOf({.all = 32, .members = 8, .stride = 4}, 8).leavingNode, 4u);
}

TEST(Ring, AnIncompleteLastNodeCounts) {
  const Ring ring = ringOf({.all = 12, .members = 12, .stride = 1}, 8);
  EXPECT_EQ(ring.nodes, 2u);
  EXPECT_EQ(ring.leavingNode, 1u);
}

TEST(CollectiveSeconds, EachRankSendsAllThatIsNotItsOwn) {
  EXPECT_EQ(ringBytes(/*rounds=*/1, 800, 8), 700);
  EXPECT_EQ(ringBytes(/*rounds=*/2, 800, 8), 1400);
  EXPECT_EQ(ringBytes(/*rounds=*/1, 800, 1), 0);
}

TEST(CollectiveSeconds, InANodeTheLinkBounds) {
  // They meet, seven hops, 700 bytes.
  EXPECT_DOUBLE_EQ(collectiveSeconds({8, 8, 1}, 1, 700, nodesOf(8)), 1 + 7 * 0.01 + 7);
}

TEST(CollectiveSeconds, BetweenNodesTheNetworkBounds) {
  // 32 ranks on four nodes: 28 hops in nodes, three between them.
  EXPECT_DOUBLE_EQ(collectiveSeconds({32, 32, 1}, 1, 400, nodesOf(8)), 1 + 28 * 0.01 + 3 * 0.1 + 10);
}

TEST(CollectiveSeconds, GroupsShareTheWayOutOfANode) {
  EXPECT_DOUBLE_EQ(collectiveSeconds({32, 4, 8}, 1, 400, nodesOf(8)), 1 + 3 * 0.1 + 400 / (40.0 / 8));
}

TEST(CollectiveSeconds, SeveralRoundsMayGoThroughATree) {
  // Through the ring: 2 (28 0.01 + 3 0.1). Through the tree: 2 (7 0.01 + 2 0.1).
  EXPECT_DOUBLE_EQ(collectiveSeconds({32, 32, 1}, 2, 0, nodesOf(8)), 1 + 2 * (7 * 0.01 + 2 * 0.1));
}

} // namespace
} // namespace trainc
