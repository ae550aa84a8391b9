#include "lib/Memory/ArenaLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace trainc {

namespace {
/// A buffer that has its place.
struct Placed {
  int64_t begin, end;
  const Lifetime *lifetime;
};
} // namespace

/// The lowest offset at which `bytes` fit beside those of the placed buffers (sorted by offset) that live at
/// the same time.
static int64_t lowestGap(llvm::ArrayRef<Placed> placed, const Lifetime &lifetime, int64_t bytes) {
  int64_t offset = 0;
  for (const Placed &other : placed) {
    if (other.lifetime->first > lifetime.last || lifetime.first > other.lifetime->last)
      continue;
    if (other.begin - offset >= bytes)
      break;
    offset = std::max(offset, int64_t(llvm::alignTo(other.end, lifetime.alignment)));
  }
  return offset;
}

ArenaLayout layOutArena(llvm::ArrayRef<Lifetime> lifetimes, int64_t alignment) {
  llvm::SmallVector<unsigned> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(-lifetimes[a].bytes, a) < std::pair(-lifetimes[b].bytes, b);
  });

  ArenaLayout layout;
  layout.offsets.resize(lifetimes.size());
  std::vector<Placed> placed;
  for (unsigned index : order) {
    int64_t bytes = llvm::alignTo(lifetimes[index].bytes, alignment),
            offset = lowestGap(placed, lifetimes[index], bytes);
    layout.offsets[index] = offset;
    layout.bytes = std::max(layout.bytes, offset + bytes);
    auto isBehind = [](int64_t at, const Placed &other) { return at < other.begin; };
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset, isBehind),
                  {offset, offset + bytes, &lifetimes[index]});
  }
  return layout;
}

} // namespace trainc
