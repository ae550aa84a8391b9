// Gaps between buffers, compared with a search that tests one buffer after the other.
#include "lib/Memory/ArenaPlaces.h"

#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace trainc {
namespace {

bool liveTogether(const Placed &buffer, const Lifetime &lifetime) {
  const Interval life{lifetime.first, lifetime.last};
  return buffer.life.meets(life) || buffer.life.meets(lifetime.secondUse) || buffer.secondUse.meets(life) ||
         buffer.secondUse.meets(lifetime.secondUse);
}

int64_t gapByAsking(std::vector<Placed> buffers, const Lifetime &lifetime, int64_t bytes) {
  std::sort(buffers.begin(), buffers.end());
  int64_t offset = 0;
  for (const Placed &buffer : buffers) {
    if (!liveTogether(buffer, lifetime))
      continue;
    if (buffer.begin - offset >= bytes)
      break;
    offset = std::max(offset, int64_t(llvm::alignTo(buffer.end, lifetime.alignment)));
  }
  return offset;
}

class RandomBuffers {
public:
  explicit RandomBuffers(unsigned seed) : random_(seed) {}

  Interval interval() {
    const int64_t first = below(40);
    return {first, first + below(12)};
  }
  /// One in three has no second life.
  Interval secondUse() { return below(3) == 0 ? Interval{} : interval(); }
  Placed placed(unsigned number) {
    const int64_t begin = 64 * below(30); // several begin at the same place
    return {begin, begin + 1 + below(500), interval(), secondUse(), number};
  }
  Lifetime lifetime() {
    const Interval life = interval();
    return {life.first, life.last, 1 + below(300), int64_t(1) << below(8), life.first, secondUse()};
  }
  int64_t below(int64_t end) { return std::uniform_int_distribution<int64_t>(0, end - 1)(random_); }

private:
  std::mt19937 random_;
};

TEST(ArenaPlaces, GapsAreThoseOfAskingEachBuffer) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    RandomBuffers random(seed);
    std::vector<Placed> buffers;
    ArenaPlaces places;
    for (unsigned number = 0; number < 1 + seed / 2; ++number) {
      buffers.push_back(random.placed(number));
      places.insert(buffers.back());
    }
    for (int erased = 0; erased < 3 && buffers.size() > 1; ++erased) {
      const auto at = buffers.begin() + random.below(int64_t(buffers.size()));
      places.erase(*at);
      buffers.erase(at);
    }
    for (int asked = 0; asked < 20; ++asked) {
      const Lifetime lifetime = random.lifetime();
      const int64_t bytes = random.below(400), gap = gapByAsking(buffers, lifetime, bytes);
      EXPECT_EQ(places.lowestGap(lifetime, bytes), gap) << "seed " << seed;
      const int64_t maximum = gap + bytes;
      EXPECT_EQ(places.lowestGap(lifetime, bytes, maximum), gap) << "seed " << seed;
      if (gap > 0)
        EXPECT_GT(places.lowestGap(lifetime, bytes, maximum - 1) + bytes, maximum - 1) << "seed " << seed;
    }
  }
}

TEST(ArenaPlaces, NothingIsBesideNothing) { EXPECT_EQ(ArenaPlaces().lowestGap({0, 5, 64}, 64), 0); }

} // namespace
} // namespace trainc
