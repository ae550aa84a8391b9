#include "lib/Memory/ArenaPlaces.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace trainc {

/// Returns the indices of lifetimes, larger buffers first.
static llvm::SmallVector<unsigned> bySize(llvm::ArrayRef<Lifetime> lifetimes) {
  llvm::SmallVector<unsigned> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(-lifetimes[a].bytes, a) < std::pair(-lifetimes[b].bytes, b);
  });
  return order;
}

ArenaLayout layOutArena(llvm::ArrayRef<Lifetime> lifetimes, int64_t alignment) {
  ArenaLayout layout;
  layout.offsets.resize(lifetimes.size());
  ArenaPlaces placed;
  for (unsigned index : bySize(lifetimes)) {
    Lifetime own = lifetimes[index];
    own.secondUse = {};
    const int64_t bytes = llvm::alignTo(own.bytes, alignment), offset = placed.lowestGap(own, bytes);
    const Placed buffer{offset, offset + bytes, {own.first, own.last}, {}, index};
    placed.insert(buffer);
    layout.offsets[index] = offset;
    layout.bytes = std::max(layout.bytes, offset + bytes);
  }
  return layout;
}

/// Returns a number between `sure` and `wanted` for which `good` holds; of several, one close to `wanted`.
/// `good` must hold for `sure`, and for all numbers between `sure` and any other number for which it holds.
/// Returns `sure` if `good` fails after a sixteenth of the way.
static int64_t furthest(int64_t sure, int64_t wanted, llvm::function_ref<bool(int64_t)> good) {
  if (good(wanted))
    return wanted;
  const int64_t way = wanted - sure, step = way / 16, minimum = sure + (step != 0 ? step : way > 0 ? 1 : -1);
  if (minimum == wanted || !good(minimum))
    return sure;
  sure = minimum;
  for (int tries = 0; tries < 3; ++tries) {
    const int64_t middle = sure + (wanted - sure) / 2;
    (good(middle) ? sure : wanted) = middle;
  }
  return sure;
}

/// Returns the indices of lifetimes whose `wish`, a number of positions, is above 0, the largest wish first.
/// Returns at most 1024, because each extension takes time proportional to the number of buffers.
static llvm::SmallVector<unsigned> byWish(llvm::ArrayRef<Lifetime> lifetimes,
                                          llvm::function_ref<int64_t(const Lifetime &)> wish) {
  constexpr size_t kMaxWishes = 1024;
  llvm::SmallVector<unsigned> order;
  for (unsigned index = 0; index < lifetimes.size(); ++index)
    if (wish(lifetimes[index]) > 0)
      order.push_back(index);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(-wish(lifetimes[a]), a) < std::pair(-wish(lifetimes[b]), b);
  });
  order.truncate(std::min(order.size(), kMaxWishes));
  return order;
}

namespace {

/// Placed buffers of an arena, whose lifetimes are extended one by one. All are placed before and after each
/// call.
class Spread {
public:
  Spread(llvm::MutableArrayRef<Lifetime> lifetimes, ArenaLayout &layout, int64_t alignment, int64_t bytes,
         llvm::ArrayRef<PlacedBuffer> others)
      : lifetimes_(lifetimes), offsets_(layout.offsets), alignment_(alignment), bytes_(bytes),
        used_(positionsOf(lifetimes, others)) {
    std::vector<Placed> buffers;
    for (unsigned index = 0; index < lifetimes.size(); ++index) {
      secondUses_.push_back(std::exchange(lifetimes[index].secondUse, {}));
      buffers.push_back(placedAt(index, offsets_[index]));
    }
    for (const PlacedBuffer &other : others)
      buffers.push_back({other.offset,
                         other.offset + int64_t(llvm::alignTo(other.bytes, alignment)),
                         other.life,
                         {},
                         unsigned(buffers.size())});
    llvm::sort(buffers); // insertion in order is fastest
    for (const Placed &buffer : buffers) {
      placed_.insert(buffer);
      use(buffer.life, buffer.end - buffer.begin);
    }
  }

  /// Extends a buffer's lifetime to begin as early as memory allows.
  void beginEarly(unsigned index) {
    int64_t first = lifetimes_[index].first;
    while (first > lifetimes_[index].earliest && hasRoomAt(first - 1, index))
      --first;
    lengthen(index, lifetimes_[index].first, first,
             [](Lifetime &lifetime, int64_t first) { lifetime.first = first; });
  }

  /// Extends a buffer's second interval of use as far as memory allows.
  void useAgain(unsigned index) {
    const Interval wanted = secondUses_[index];
    int64_t last = wanted.first - 1;
    while (last < wanted.last && hasRoomAt(last + 1, index))
      ++last;
    lengthen(index, wanted.first - 1, last,
             [&](Lifetime &lifetime, int64_t last) { lifetime.secondUse = {wanted.first, last}; });
  }

private:
  static size_t positionsOf(llvm::ArrayRef<Lifetime> lifetimes, llvm::ArrayRef<PlacedBuffer> others) {
    int64_t last = -1;
    for (const Lifetime &each : lifetimes)
      last = std::max({last, each.last, each.secondUse.last});
    for (const PlacedBuffer &each : others)
      last = std::max(last, each.life.last);
    return size_t(last + 1);
  }

  Placed placedAt(unsigned index, int64_t offset) const {
    const Lifetime &lifetime = lifetimes_[index];
    return {offset, offset + bytesOf(index), {lifetime.first, lifetime.last}, lifetime.secondUse, index};
  }

  /// Whether enough bytes are free at a position, though not necessarily contiguous.
  bool hasRoomAt(int64_t position, unsigned index) const {
    return used_[position] + bytesOf(index) <= bytes_;
  }
  int64_t bytesOf(unsigned index) const { return llvm::alignTo(lifetimes_[index].bytes, alignment_); }

  void use(const Interval &interval, int64_t bytes) {
    for (int64_t position = interval.first; position <= interval.last; ++position)
      used_[position] += bytes;
  }

  /// Extends the lifetime: calls `set` with the value that furthest() finds, and moves the buffer to the
  /// lowest offset at which it then fits. Changes nothing if only `sure` fits.
  void lengthen(unsigned index, int64_t sure, int64_t wanted,
                llvm::function_ref<void(Lifetime &, int64_t)> set) {
    if (sure == wanted)
      return;
    const int64_t bytes = bytesOf(index);
    Lifetime &lifetime = lifetimes_[index];
    const Lifetime before = lifetime;
    placed_.erase(placedAt(index, offsets_[index]));
    const int64_t found = furthest(sure, wanted, [&](int64_t number) {
      Lifetime tried = before;
      set(tried, number);
      return placed_.lowestGap(tried, bytes, bytes_) + bytes <= bytes_;
    });
    if (found != sure) {
      set(lifetime, found);
      use({lifetime.first, before.first - 1}, bytes);
      use(lifetime.secondUse, bytes);
      offsets_[index] = placed_.lowestGap(lifetime, bytes, bytes_);
    }
    placed_.insert(placedAt(index, offsets_[index]));
  }

  llvm::MutableArrayRef<Lifetime> lifetimes_;
  llvm::SmallVectorImpl<int64_t> &offsets_;
  std::vector<Interval> secondUses_; ///< second intervals of use that the caller wants
  int64_t alignment_, bytes_;
  ArenaPlaces placed_;
  std::vector<int64_t> used_; ///< bytes in use at each position
};

} // namespace

void spreadInArena(llvm::MutableArrayRef<Lifetime> lifetimes, ArenaLayout &layout, int64_t alignment,
                   int64_t bytes, llvm::ArrayRef<PlacedBuffer> others) {
  const auto early = byWish(lifetimes, [](const Lifetime &each) { return each.first - each.earliest; }),
             again = byWish(lifetimes, [](const Lifetime &each) {
               return each.secondUse.last - each.secondUse.first + 1;
             });
  if (early.empty() && again.empty())
    return;
  Spread spread(lifetimes, layout, alignment, bytes, others);
  for (const unsigned index : early)
    spread.beginEarly(index);
  for (const unsigned index : again)
    spread.useAgain(index);
  layout.bytes = std::max(layout.bytes, bytes);
}

} // namespace trainc
