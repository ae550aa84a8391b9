// Who touched bytes last, against a list of all who did.
#include "plan/facts/last_touches.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace trainc {
namespace {

constexpr size_t kStreams = 3;

struct Touch {
  size_t stream;
  Span bytes;
  bool writes;
};

Touch randomTouch(std::mt19937 &random) {
  const auto below = [&](int64_t end) { return int64_t(random() % uint64_t(end)); };
  const int64_t begin = below(40);
  return {size_t(below(kStreams)), {begin, begin + below(12)}, below(2) == 0};
}

bool conflict(const Touch &a, const Touch &b) {
  const bool meet = a.bytes.begin < b.bytes.end && b.bytes.begin < a.bytes.end &&
                    a.bytes.begin < a.bytes.end && b.bytes.begin < b.bytes.end;
  return meet && (a.writes || b.writes);
}

TEST(LastTouches, AreThoseThatAListHas) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    LastTouches<kStreams> touches;
    std::vector<Touch> list;
    for (uint32_t instruction = 0; instruction < 100; ++instruction) {
      const Touch touch = randomTouch(random);
      LastTouches<kStreams>::Counts found{}, expected{};
      touches.find(touch.bytes, touch.writes, found);
      for (uint32_t other = 0; other < list.size(); ++other)
        if (conflict(list[other], touch))
          expected[list[other].stream] = other + 1;
      ASSERT_EQ(found, expected) << "round " << round << ", instruction " << instruction;
      touches.add(instruction, touch.stream, touch.bytes, touch.writes);
      list.push_back(touch);
    }
  }
}

TEST(LastTouches, OfSeveralUsesAreTheLatest) {
  LastTouches<kStreams> touches;
  touches.add(4, 0, {0, 8}, /*writes=*/true);
  touches.add(6, 0, {8, 16}, /*writes=*/true);
  LastTouches<kStreams>::Counts counts{0, 3, 0};
  touches.find({8, 16}, /*writes=*/false, counts);
  touches.find({0, 8}, /*writes=*/false, counts);
  EXPECT_EQ(counts, (LastTouches<kStreams>::Counts{7, 3, 0}));
}

} // namespace
} // namespace trainc
