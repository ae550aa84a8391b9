#include "lib/Memory/ArenaLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace trainc {

namespace {

/// Buffers that have their places.
class Places {
public:
  explicit Places(int64_t alignment) : alignment_(alignment) {}

  /// The lowest offset at which it fits beside those that live at the same time.
  int64_t lowestGap(const Lifetime &lifetime) const {
    const Interval life{lifetime.first, lifetime.last};
    int64_t offset = 0;
    for (const Placed &other : placed_) {
      if (!life.meets(other.life) && !life.meets(other.again) && !lifetime.again.meets(other.life) &&
          !lifetime.again.meets(other.again))
        continue;
      if (other.begin - offset >= bytesOf(lifetime))
        break;
      offset = std::max(offset, int64_t(llvm::alignTo(other.end, lifetime.alignment)));
    }
    return offset;
  }

  void add(const Lifetime &lifetime, int64_t offset) {
    insert({offset, offset + bytesOf(lifetime), {lifetime.first, lifetime.last}, lifetime.again});
    end_ = std::max(end_, offset + bytesOf(lifetime));
  }
  /// What add() has added.
  void remove(const Lifetime &lifetime, int64_t offset) {
    const auto isIt = [&](const Placed &other) {
      return other.begin == offset && other.life.first == lifetime.first && other.life.last == lifetime.last;
    };
    placed_.erase(std::find_if(placed_.begin(), placed_.end(), isIt));
  }
  void add(const PlacedBuffer &other) {
    insert({other.offset, other.offset + int64_t(llvm::alignTo(other.bytes, alignment_)), other.life, {}});
  }

  int64_t bytesOf(const Lifetime &lifetime) const { return llvm::alignTo(lifetime.bytes, alignment_); }
  int64_t end() const { return end_; }

private:
  struct Placed {
    int64_t begin, end; ///< bytes
    Interval life, again;
  };
  void insert(const Placed &placed) {
    const auto isBehind = [](int64_t at, const Placed &other) { return at < other.begin; };
    placed_.insert(std::upper_bound(placed_.begin(), placed_.end(), placed.begin, isBehind), placed);
  }

  int64_t alignment_;
  std::vector<Placed> placed_; ///< sorted by `begin`
  int64_t end_ = 0;
};

} // namespace

/// Larger ones first.
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
  Places places(alignment);
  for (unsigned index : bySize(lifetimes)) {
    Lifetime own = lifetimes[index];
    own.again = {};
    layout.offsets[index] = places.lowestGap(own);
    places.add(own, layout.offsets[index]);
  }
  layout.bytes = places.end();
  return layout;
}

/// Of the numbers from `sure` to `wanted` one close to `wanted` that is `good`, found to within a sixteenth
/// of the way. `sure` is, and what is good is so all the way from there on.
static int64_t furthest(int64_t sure, int64_t wanted, llvm::function_ref<bool(int64_t)> good) {
  constexpr int kTries = 4;
  if (sure == wanted || good(wanted))
    return wanted;
  for (int tries = 0; tries < kTries; ++tries) {
    const int64_t middle = sure + (wanted - sure) / 2;
    (good(middle) ? sure : wanted) = middle;
  }
  return sure;
}

/// Numbers the lifetimes that `wishes`, those with more of it first.
static llvm::SmallVector<unsigned> byWish(llvm::ArrayRef<Lifetime> lifetimes,
                                          llvm::function_ref<int64_t(const Lifetime &)> wish) {
  llvm::SmallVector<unsigned> order;
  for (unsigned index = 0; index < lifetimes.size(); ++index)
    if (wish(lifetimes[index]) > 0)
      order.push_back(index);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(-wish(lifetimes[a]), a) < std::pair(-wish(lifetimes[b]), b);
  });
  return order;
}

namespace {

/// Buffers of an arena, of which each has its place all the time.
class Spread {
public:
  Spread(llvm::MutableArrayRef<Lifetime> lifetimes, ArenaLayout &layout, int64_t alignment, int64_t bytes,
         llvm::ArrayRef<PlacedBuffer> others)
      : lifetimes_(lifetimes), offsets_(layout.offsets), bytes_(bytes), places_(alignment) {
    for (const PlacedBuffer &other : others)
      places_.add(other);
    for (auto [lifetime, offset] : llvm::zip(lifetimes, offsets_)) {
      again_.push_back(std::exchange(lifetime.again, {}));
      places_.add(lifetime, offset);
    }
  }

  /// Has a buffer begin as early as has room.
  void beginEarly(unsigned index) {
    Lifetime &lifetime = lifetimes_[index];
    places_.remove(lifetime, offsets_[index]);
    lifetime.first = furthest(lifetime.first, lifetime.earliest, [&](int64_t first) {
      lifetime.first = first;
      return fits(lifetime);
    });
    place(index);
  }

  /// Has a buffer in use again for as long as has room.
  void useAgain(unsigned index) {
    Lifetime &lifetime = lifetimes_[index];
    const Interval wanted = again_[index];
    places_.remove(lifetime, offsets_[index]);
    lifetime.again = {wanted.first, furthest(wanted.first - 1, wanted.last, [&](int64_t last) {
                        lifetime.again = {wanted.first, last};
                        return fits(lifetime);
                      })};
    place(index);
  }

private:
  bool fits(const Lifetime &lifetime) const {
    return places_.lowestGap(lifetime) + places_.bytesOf(lifetime) <= bytes_;
  }
  void place(unsigned index) {
    offsets_[index] = places_.lowestGap(lifetimes_[index]);
    places_.add(lifetimes_[index], offsets_[index]);
  }

  llvm::MutableArrayRef<Lifetime> lifetimes_;
  llvm::SmallVectorImpl<int64_t> &offsets_;
  std::vector<Interval> again_; ///< as wanted
  int64_t bytes_;
  Places places_;
};

} // namespace

void spreadInArena(llvm::MutableArrayRef<Lifetime> lifetimes, ArenaLayout &layout, int64_t alignment,
                   int64_t bytes, llvm::ArrayRef<PlacedBuffer> others) {
  const auto early = byWish(lifetimes, [](const Lifetime &each) { return each.first - each.earliest; }),
             again = byWish(lifetimes,
                            [](const Lifetime &each) { return each.again.last - each.again.first + 1; });
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
