// Placement of buffers by lifetime: no overlap in time and space, and the sizes that follow.
#include "lib/Memory/ArenaLayout.h"

#include "llvm/Support/MathExtras.h"
#include <gtest/gtest.h>
#include <random>

namespace trainc {
namespace {

constexpr int64_t kAlignment = 64;

/// Fails unless buffers that are alive together lie apart, on aligned offsets, inside the arena.
void expectSound(llvm::ArrayRef<Lifetime> lifetimes, const ArenaLayout &layout) {
  ASSERT_EQ(layout.offsets.size(), lifetimes.size());
  for (size_t a = 0; a < lifetimes.size(); ++a) {
    EXPECT_EQ(layout.offsets[a] % kAlignment, 0);
    EXPECT_LE(layout.offsets[a] + lifetimes[a].bytes, layout.bytes);
    for (size_t b = 0; b < a; ++b) {
      bool together = lifetimes[a].first <= lifetimes[b].last && lifetimes[b].first <= lifetimes[a].last;
      bool apart = layout.offsets[a] + lifetimes[a].bytes <= layout.offsets[b] ||
                   layout.offsets[b] + lifetimes[b].bytes <= layout.offsets[a];
      EXPECT_TRUE(!together || apart) << "buffers " << a << " and " << b;
    }
  }
}

/// Fails unless each buffer lies at the start of the arena or right behind one that is alive with it.
void expectNoHoles(llvm::ArrayRef<Lifetime> lifetimes, const ArenaLayout &layout) {
  for (size_t a = 0; a < lifetimes.size(); ++a) {
    bool supported = layout.offsets[a] == 0;
    for (size_t b = 0; b < lifetimes.size(); ++b)
      supported |=
          lifetimes[a].first <= lifetimes[b].last && lifetimes[b].first <= lifetimes[a].last &&
          layout.offsets[b] + int64_t(llvm::alignTo(lifetimes[b].bytes, kAlignment)) == layout.offsets[a];
    EXPECT_TRUE(supported) << "buffer " << a;
  }
}

TEST(ArenaLayout, EmptyArenaTakesNothing) { EXPECT_EQ(layOutArena({}, kAlignment).bytes, 0); }

TEST(ArenaLayout, BuffersOfDisjointLifetimesShareBytes) {
  llvm::SmallVector<Lifetime> lifetimes = {{0, 1, 640}, {2, 3, 640}, {4, 4, 64}};
  ArenaLayout layout = layOutArena(lifetimes, kAlignment);
  expectSound(lifetimes, layout);
  EXPECT_EQ(layout.bytes, 640);
}

TEST(ArenaLayout, LifetimesThatMeetAtOnePositionDoNotShare) {
  llvm::SmallVector<Lifetime> lifetimes = {{0, 2, 64}, {2, 3, 64}};
  EXPECT_EQ(layOutArena(lifetimes, kAlignment).bytes, 128);
}

TEST(ArenaLayout, SizesAreRoundedUpToTheAlignment) {
  llvm::SmallVector<Lifetime> lifetimes = {{0, 1, 1}, {0, 1, 65}};
  EXPECT_EQ(layOutArena(lifetimes, kAlignment).bytes, 64 + 128);
}

TEST(ArenaLayout, RandomLifetimesAreSoundAndTheSameEveryTime) {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    llvm::SmallVector<Lifetime> lifetimes;
    int64_t largestTogether = 0;
    for (int i = 0; i < 120; ++i) {
      int64_t first = int64_t(random() % 100);
      lifetimes.push_back({first, first + int64_t(random() % 20), 1 + int64_t(random() % 5000)});
    }
    for (int64_t position = 0; position < 120; ++position) {
      int64_t together = 0;
      for (const Lifetime &lifetime : lifetimes)
        if (lifetime.first <= position && position <= lifetime.last)
          together += llvm::alignTo(lifetime.bytes, kAlignment);
      largestTogether = std::max(largestTogether, together);
    }
    ArenaLayout layout = layOutArena(lifetimes, kAlignment);
    expectSound(lifetimes, layout);
    expectNoHoles(lifetimes, layout);
    EXPECT_GE(layout.bytes, largestTogether);
    EXPECT_EQ(layout.offsets, layOutArena(lifetimes, kAlignment).offsets);
  }
}

TEST(SpreadInArena, BeginsAsEarlyAsHasRoom) {
  // Of 16 positions the first eight have no room, and the next four have some for one of the two.
  llvm::SmallVector<Lifetime> lifetimes = {
      {0, 7, 256}, {8, 11, 192}, {15, 15, 64, 1, /*earliest=*/0}, {15, 15, 64, 1, /*earliest=*/0}};
  const std::optional<ArenaLayout> layout = spreadInArena(lifetimes, kAlignment, 256);
  ASSERT_TRUE(layout);
  expectSound(lifetimes, *layout);
  EXPECT_EQ(layout->bytes, 256);
  EXPECT_EQ(lifetimes[2].first, 8) << "found to within a sixteenth of 15";
  EXPECT_EQ(lifetimes[3].first, 12);
}

TEST(SpreadInArena, LeavesThemWhereOneHasNoPlace) {
  llvm::SmallVector<Lifetime> lifetimes = {{0, 7, 256}, {4, 7, 64, 1, /*earliest=*/1}};
  EXPECT_FALSE(spreadInArena(lifetimes, kAlignment, 256));
  EXPECT_EQ(lifetimes[1].first, 4);
}

TEST(SpreadInArena, RandomLifetimesAreSound) {
  std::mt19937 random(8);
  int moved = 0;
  for (int round = 0; round < 50; ++round) {
    llvm::SmallVector<Lifetime> lifetimes;
    for (int i = 0; i < 60; ++i) {
      const auto first = int64_t(random() % 100);
      lifetimes.push_back({first, first + int64_t(random() % 20), 1 + int64_t(random() % 5000)});
    }
    for (int64_t first = 40; first < 120; first += 4) // in their order
      lifetimes.push_back({first, first + 4, 2000, 1, first - int64_t(random() % 40)});
    const int64_t bytes = layOutArena(lifetimes, kAlignment).bytes;
    llvm::SmallVector<Lifetime> spread = lifetimes;
    const std::optional<ArenaLayout> layout = spreadInArena(spread, kAlignment, bytes);
    if (!layout)
      continue;
    expectSound(spread, *layout);
    int64_t previous = 0;
    for (size_t i = 0; i < spread.size(); ++i) {
      EXPECT_EQ(spread[i].last, lifetimes[i].last);
      EXPECT_LE(spread[i].first, lifetimes[i].first);
      EXPECT_GE(spread[i].first, std::min(lifetimes[i].earliest, lifetimes[i].first));
      if (lifetimes[i].maySpread()) {
        EXPECT_LE(previous, spread[i].first);
        previous = spread[i].first;
        moved += spread[i].first < lifetimes[i].first;
      }
    }
  }
  EXPECT_GT(moved, 100);
}

} // namespace
} // namespace trainc
