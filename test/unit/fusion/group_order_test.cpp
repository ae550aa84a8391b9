// The order of groups that move, and the shortcut to which of them depend on each other.
#include "lib/Fusion/GroupOrder.h"
#include "lib/Fusion/Waypoints.h"

#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>
#include <random>

using namespace trainc;

namespace {

class GroupOrderTest : public ::testing::Test {
protected:
  static constexpr unsigned kSize = 40;

  GroupOrderTest() {
    order.reset(kSize);
    for (unsigned group = 0; group < kSize; ++group)
      expected.push_back(group);
  }

  void move(unsigned anchor, const llvm::SmallVector<unsigned> &moved) {
    order.moveAfter(anchor, moved);
    auto isMoved = [&](unsigned group) { return llvm::is_contained(moved, group); };
    std::vector<unsigned> inOrder;
    llvm::copy_if(expected, std::back_inserter(inOrder), isMoved);
    llvm::erase_if(expected, isMoved);
    expected.insert(llvm::find(expected, anchor) + 1, inOrder.begin(), inOrder.end());
  }

  void check() {
    for (size_t i = 0; i + 1 < expected.size(); ++i) {
      ASSERT_TRUE(order.isBefore(expected[i], expected[i + 1])) << "place " << i;
      ASSERT_FALSE(order.isBefore(expected[i + 1], expected[i])) << "place " << i;
    }
  }

  GroupOrder order;
  std::vector<unsigned> expected;
};

TEST_F(GroupOrderTest, MovesKeepTheirOrderWhateverOrderTheyAreNamedIn) {
  move(30, {5, 3, 39});
  check();
  order.remove(3);
  llvm::erase(expected, 3);
  move(39, {0});
  check();
}

TEST_F(GroupOrderTest, RandomMoves) {
  std::mt19937 random(7);
  for (int i = 0; i < 5000; ++i) {
    std::vector<unsigned> shuffled = expected;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    move(shuffled[0], {shuffled.begin() + 1, shuffled.begin() + 1 + random() % 6});
    check();
  }
}

TEST_F(GroupOrderTest, RoomBetweenTwoNeverRunsOut) {
  for (int i = 0; i < 200; ++i)
    move(20, {expected.back()}); // halves the gap each time
  check();
}

/// A graph in which each node stands before its successors.
struct Graph {
  std::vector<std::vector<unsigned>> successors;

  Waypoints waypoints() const {
    Waypoints found;
    found.find(successors.size(), [&](unsigned node) { return llvm::ArrayRef(successors[node]); });
    return found;
  }

  bool leadsTo(unsigned from, unsigned to) const {
    return llvm::any_of(successors[from],
                        [&](unsigned next) { return next == to || (next < to && leadsTo(next, to)); });
  }
};

TEST(Waypoints, OfARandomGraphLieOnWaysThatAreThere) {
  std::mt19937 random(3);
  unsigned promised = 0;
  for (int round = 0; round < 200; ++round) {
    constexpr unsigned kNodes = 14;
    Graph graph{std::vector<std::vector<unsigned>>(kNodes)};
    for (unsigned from = 0; from < kNodes; ++from)
      for (unsigned to = from + 1; to < kNodes; ++to)
        if (random() % 5 == 0)
          graph.successors[from].push_back(to);
    const Waypoints waypoints = graph.waypoints();
    for (unsigned from = 0; from < kNodes; ++from)
      for (unsigned to = 0; to < kNodes; ++to)
        for (unsigned node : waypoints.between(waypoints.of(from), waypoints.of(to))) {
          ++promised;
          EXPECT_TRUE(graph.leadsTo(from, node) && graph.leadsTo(node, to))
              << from << " to " << to << " by " << node << ", round " << round;
        }
  }
  EXPECT_GT(promised, 0U);
}

TEST(Waypoints, OfAChainAreAllBetween) {
  constexpr unsigned kNodes = 9;
  Graph graph{std::vector<std::vector<unsigned>>(kNodes)};
  for (unsigned node = 0; node + 1 < kNodes; ++node)
    graph.successors[node].push_back(node + 1);
  const Waypoints waypoints = graph.waypoints();
  for (unsigned from = 0; from < kNodes; ++from)
    for (unsigned to = 0; to < kNodes; ++to)
      EXPECT_EQ(waypoints.between(waypoints.of(from), waypoints.of(to)).size(), to > from ? to - from - 1 : 0)
          << from << " to " << to;
}

} // namespace
