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
      const Interval lifeA{lifetimes[a].first, lifetimes[a].last},
          lifeB{lifetimes[b].first, lifetimes[b].last};
      const bool together = lifeA.meets(lifeB) || lifeA.meets(lifetimes[b].secondUse) ||
                            lifetimes[a].secondUse.meets(lifeB) ||
                            lifetimes[a].secondUse.meets(lifetimes[b].secondUse);
      bool apart = layout.offsets[a] + lifetimes[a].bytes <= layout.offsets[b] ||
                   layout.offsets[b] + lifetimes[b].bytes <= layout.offsets[a];
      EXPECT_TRUE(!together || apart) << "buffers " << a << " and " << b;
    }
  }
}

/// Fails unless each buffer is at the begin of the arena or directly after one that is live at the same time.
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

/// As layOutArena() places them, in so many bytes.
ArenaLayout spread(llvm::MutableArrayRef<Lifetime> lifetimes, int64_t bytes,
                   llvm::ArrayRef<PlacedBuffer> others = {}) {
  ArenaLayout layout = layOutArena(lifetimes, kAlignment);
  EXPECT_LE(layout.bytes, bytes);
  spreadInArena(lifetimes, layout, kAlignment, bytes, others);
  expectSound(lifetimes, layout);
  EXPECT_LE(layout.bytes, bytes);
  return layout;
}

TEST(SpreadInArena, BeginsAsEarlyAsHasRoom) {
  // The first eight of 16 positions have no space, and the next four have space for one of the two.
  llvm::SmallVector<Lifetime> lifetimes = {
      {0, 7, 256}, {8, 11, 192}, {15, 15, 64, 1, /*earliest=*/0}, {15, 15, 64, 1, /*earliest=*/0}};
  spread(lifetimes, 256);
  EXPECT_EQ(lifetimes[2].first, 8) << "found to within a sixteenth of 15";
  EXPECT_EQ(lifetimes[3].first, 12);
}

TEST(SpreadInArena, StaysWhereNoRoomIs) {
  llvm::SmallVector<Lifetime> lifetimes = {{0, 7, 256}, {8, 9, 64, 1, /*earliest=*/1, {0, 3}}};
  spread(lifetimes, 256);
  EXPECT_EQ(lifetimes[1].first, 8);
  EXPECT_TRUE(lifetimes[1].secondUse.isEmpty());
}

TEST(SpreadInArena, IsUsedAgainAwayFromWhatIsThereThen) {
  // The lowest place of the last one is that of the first one, which is in use again at its time.
  llvm::SmallVector<Lifetime> lifetimes = {{0, 3, 64}, {8, 9, 64, 1, 8, {0, 5}}};
  EXPECT_EQ(layOutArena(lifetimes, kAlignment).bytes, 64);
  const ArenaLayout layout = spread(lifetimes, 128);
  EXPECT_NE(layout.offsets[0], layout.offsets[1]);
  EXPECT_EQ(lifetimes[1].secondUse.last, 5);
}

TEST(SpreadInArena, IsUsedAgainBesideOthers) {
  // In the next entry the first 64 bytes are in use from its second position on, the others from its fourth.
  const PlacedBuffer others[] = {{{11, 15}, 0, 4}, {{13, 15}, 64, 64}};
  llvm::SmallVector<Lifetime> lifetimes = {{8, 9, 64, 1, 8, {10, 12}}};
  EXPECT_EQ(spread(lifetimes, 128, others).offsets[0], 64);
  EXPECT_EQ(lifetimes[0].secondUse.last, 12);
  lifetimes = {{8, 9, 64, 1, 8, {10, 14}}};
  spread(lifetimes, 128, others);
  EXPECT_EQ(lifetimes[0].secondUse.last, 12);
}

TEST(SpreadInArena, RandomLifetimesAreSound) {
  std::mt19937 random(8);
  int begunEarly = 0, usedAgain = 0;
  for (int round = 0; round < 50; ++round) {
    llvm::SmallVector<Lifetime> lifetimes;
    for (int i = 0; i < 60; ++i) {
      const auto first = int64_t(random() % 100);
      lifetimes.push_back({first, first + int64_t(random() % 20), 1 + int64_t(random() % 5000)});
    }
    for (int64_t first = 40; first < 120; first += 4)
      lifetimes.push_back(
          {first, first + 4, 2000, 1, first - int64_t(random() % 40), {0, int64_t(random() % 20) - 1}});
    llvm::SmallVector<Lifetime> longer = lifetimes;
    spread(longer, layOutArena(lifetimes, kAlignment).bytes);
    for (size_t i = 0; i < longer.size(); ++i) {
      EXPECT_EQ(longer[i].last, lifetimes[i].last);
      EXPECT_LE(longer[i].first, lifetimes[i].first);
      EXPECT_GE(longer[i].first, lifetimes[i].earliest);
      EXPECT_LE(longer[i].secondUse.last, lifetimes[i].secondUse.last);
      begunEarly += longer[i].first < lifetimes[i].first;
      usedAgain += !longer[i].secondUse.isEmpty();
    }
  }
  EXPECT_GT(begunEarly, 100);
  EXPECT_GT(usedAgain, 100);
}

} // namespace
} // namespace trainc
