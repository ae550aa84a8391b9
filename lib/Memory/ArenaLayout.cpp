#include "lib/Memory/ArenaLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

namespace trainc {

int64_t alignBuffer(int64_t bytes) { return int64_t(llvm::alignTo(uint64_t(bytes), kBufferAlignment)); }

/// The lowest offset at which `bytes` fit beside the taken ranges (sorted by offset).
static int64_t lowestGap(llvm::ArrayRef<std::pair<int64_t, int64_t>> taken, int64_t bytes) {
  int64_t offset = 0;
  for (auto [begin, end] : taken) {
    if (begin - offset >= bytes)
      break;
    offset = std::max(offset, end);
  }
  return offset;
}

ArenaLayout layOutArena(llvm::ArrayRef<Lifetime> lifetimes) {
  llvm::SmallVector<unsigned> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(-lifetimes[a].bytes, a) < std::pair(-lifetimes[b].bytes, b);
  });

  ArenaLayout layout;
  layout.offsets.resize(lifetimes.size());
  llvm::SmallVector<unsigned> placed;
  llvm::SmallVector<std::pair<int64_t, int64_t>> taken;
  for (unsigned index : order) {
    const Lifetime &lifetime = lifetimes[index];
    int64_t bytes = alignBuffer(lifetime.bytes);
    taken.clear();
    for (unsigned other : placed)
      if (lifetimes[other].first <= lifetime.last && lifetime.first <= lifetimes[other].last)
        taken.push_back({layout.offsets[other], layout.offsets[other] + alignBuffer(lifetimes[other].bytes)});
    llvm::sort(taken);
    layout.offsets[index] = lowestGap(taken, bytes);
    layout.bytes = std::max(layout.bytes, layout.offsets[index] + bytes);
    placed.push_back(index);
  }
  return layout;
}

} // namespace trainc
