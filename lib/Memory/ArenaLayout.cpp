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
    int64_t offset = 0;
    for (const Placed &other : placed_) {
      if (other.last < lifetime.first || lifetime.last < other.first)
        continue;
      if (other.begin - offset >= bytesOf(lifetime))
        break;
      offset = std::max(offset, int64_t(llvm::alignTo(other.end, lifetime.alignment)));
    }
    return offset;
  }

  void add(const Lifetime &lifetime, int64_t offset) {
    const auto isBehind = [](int64_t at, const Placed &other) { return at < other.begin; };
    placed_.insert(std::upper_bound(placed_.begin(), placed_.end(), offset, isBehind),
                   {offset, offset + bytesOf(lifetime), lifetime.first, lifetime.last});
    end_ = std::max(end_, offset + bytesOf(lifetime));
  }

  int64_t bytesOf(const Lifetime &lifetime) const { return llvm::alignTo(lifetime.bytes, alignment_); }
  int64_t end() const { return end_; }

private:
  struct Placed {
    int64_t begin, end;  ///< bytes
    int64_t first, last; ///< positions
  };

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
    layout.offsets[index] = places.lowestGap(lifetimes[index]);
    places.add(lifetimes[index], layout.offsets[index]);
  }
  layout.bytes = places.end();
  return layout;
}

/// Begins a buffer as early as has room, not before `floor`, and adds it. Nothing if there is no room even
/// for its own lifetime. The moment is found to within a sixteenth of the way.
static std::optional<int64_t> addEarly(Lifetime &lifetime, int64_t floor, Places &places, int64_t bytes) {
  constexpr int64_t kTries = 4;
  const auto place = [&](int64_t first) -> std::optional<int64_t> {
    Lifetime tried = lifetime;
    tried.first = first;
    const int64_t offset = places.lowestGap(tried);
    return offset + places.bytesOf(tried) <= bytes ? std::optional(offset) : std::nullopt;
  };
  int64_t early = std::clamp(lifetime.earliest, floor, lifetime.first);
  std::optional<int64_t> found = place(early);
  if (!found) {
    found = place(lifetime.first);
    early = lifetime.first;
    for (int64_t tries = kTries, full = std::clamp(lifetime.earliest, floor, early); found && tries > 0;
         --tries) {
      const int64_t middle = full + (early - full) / 2;
      if (const std::optional<int64_t> offset = place(middle)) {
        found = offset;
        early = middle;
      } else {
        full = middle;
      }
    }
  }
  if (found) {
    lifetime.first = early;
    places.add(lifetime, *found);
  }
  return found;
}

std::optional<ArenaLayout> spreadInArena(llvm::MutableArrayRef<Lifetime> lifetimes, int64_t alignment,
                                         int64_t bytes) {
  ArenaLayout layout;
  layout.offsets.resize(lifetimes.size());
  layout.bytes = bytes;
  Places places(alignment);
  for (unsigned index : bySize(lifetimes))
    if (!lifetimes[index].maySpread()) {
      layout.offsets[index] = places.lowestGap(lifetimes[index]);
      places.add(lifetimes[index], layout.offsets[index]);
    }
  if (places.end() > bytes)
    return std::nullopt;
  llvm::SmallVector<Lifetime> spread(lifetimes);
  int64_t floor = 0;
  for (auto [lifetime, offset] : llvm::zip(spread, layout.offsets))
    if (lifetime.maySpread()) {
      const std::optional<int64_t> found = addEarly(lifetime, floor, places, bytes);
      if (!found)
        return std::nullopt;
      offset = *found;
      floor = lifetime.first;
    }
  llvm::copy(spread, lifetimes.begin());
  return layout;
}

} // namespace trainc
