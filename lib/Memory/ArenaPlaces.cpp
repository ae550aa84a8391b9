#include "lib/Memory/ArenaPlaces.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace trainc {

namespace {
/// An interval's positions in 32 bits; an empty interval overlaps with no other.
struct Positions {
  int32_t first = std::numeric_limits<int32_t>::max(), last = -1;

  explicit Positions(const Interval &interval) {
    if (interval.isEmpty())
      return;
    assert(interval.first >= 0 && interval.last < std::numeric_limits<int32_t>::max());
    first = int32_t(interval.first);
    last = int32_t(interval.last);
  }

  /// Returns 0 or 1 without a branch, because branches would be unpredictable.
  int32_t meets(int32_t otherFirst, int32_t otherLast) const {
    return int32_t(first <= otherLast) & int32_t(otherFirst <= last);
  }
};
} // namespace

template <typename Number> static void insertAt(std::vector<Number> &numbers, size_t at, Number number) {
  numbers.insert(numbers.begin() + ptrdiff_t(at), number);
}

template <typename Number> static void eraseAt(std::vector<Number> &numbers, size_t at) {
  numbers.erase(numbers.begin() + ptrdiff_t(at));
}

void ArenaPlaces::Intervals::insert(size_t at, const Interval &interval) {
  const Positions positions(interval);
  insertAt(firsts, at, positions.first);
  insertAt(lasts, at, positions.last);
}

void ArenaPlaces::Intervals::erase(size_t at) {
  eraseAt(firsts, at);
  eraseAt(lasts, at);
}

/// Buffers with equal begins are ordered by number.
size_t ArenaPlaces::positionOf(const Placed &buffer) const {
  auto at = size_t(std::lower_bound(begins_.begin(), begins_.end(), buffer.begin) - begins_.begin());
  while (at < begins_.size() && begins_[at] == buffer.begin && numbers_[at] < buffer.number)
    ++at;
  return at;
}

void ArenaPlaces::insert(const Placed &buffer) {
  const size_t at = positionOf(buffer);
  insertAt(begins_, at, buffer.begin);
  insertAt(ends_, at, buffer.end);
  insertAt(numbers_, at, buffer.number);
  lives_.insert(at, buffer.life);
  livingTwice_ += buffer.secondUse.isEmpty() ? 0 : 1;
  secondUses_.insert(at, buffer.secondUse);
}

void ArenaPlaces::erase(const Placed &buffer) {
  const size_t at = positionOf(buffer);
  assert(at < numbers_.size() && numbers_[at] == buffer.number);
  eraseAt(begins_, at);
  eraseAt(ends_, at);
  eraseAt(numbers_, at);
  lives_.erase(at);
  livingTwice_ -= buffer.secondUse.isEmpty() ? 0 : 1;
  secondUses_.erase(at);
}

int64_t ArenaPlaces::lowestGap(const Lifetime &lifetime, int64_t bytes, int64_t maximum) const {
  const Positions life({lifetime.first, lifetime.last}), secondUse(lifetime.secondUse);
  const bool isOnce = lifetime.secondUse.isEmpty() && livingTwice_ == 0;
  int64_t offset = 0;
  for (size_t begin = 0; begin < begins_.size() && offset + bytes <= maximum; begin += kAtOnce) {
    const int32_t *firsts = &lives_.firsts[begin], *lasts = &lives_.lasts[begin],
                  *secondFirsts = &secondUses_.firsts[begin], *secondLasts = &secondUses_.lasts[begin];
    std::array<int32_t, kAtOnce> meets;
    int32_t any = 0;
    if (isOnce)
      for (size_t i = 0; i < kAtOnce; ++i)
        any |= meets[i] = life.meets(firsts[i], lasts[i]);
    else
      for (size_t i = 0; i < kAtOnce; ++i)
        any |= meets[i] = life.meets(firsts[i], lasts[i]) | secondUse.meets(firsts[i], lasts[i]) |
                          life.meets(secondFirsts[i], secondLasts[i]) |
                          secondUse.meets(secondFirsts[i], secondLasts[i]);
    if (any == 0)
      continue;
    const size_t count = std::min(kAtOnce, begins_.size() - begin);
    for (size_t i = 0; i < count; ++i) {
      const bool isBeside = meets[i] != 0;
      if (isBeside && begins_[begin + i] - offset >= bytes)
        return offset;
      const auto end = int64_t(llvm::alignToPowerOf2(ends_[begin + i], lifetime.alignment));
      offset = isBeside ? std::max(offset, end) : offset;
    }
  }
  return offset;
}

} // namespace trainc
