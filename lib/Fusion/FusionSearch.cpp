#include "lib/Fusion/FusionSearch.h"

#include "lib/Support/StoredElement.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trainc;

/// Merges the groups of two nodes if all rules allow it.
bool FusionSearch::tryMerge(unsigned producerOrSibling, unsigned consumer) {
  if (!graph.node(producerOrSibling).space || !graph.node(consumer).space)
    return false;
  const unsigned a = graph.node(producerOrSibling).group, b = graph.node(consumer).group;
  if (a == b)
    return false;
  ++triedPairs;
  const auto [first, second] = graph.isBefore(a, b) ? std::pair(a, b) : std::pair(b, a);
  const std::optional<Space> space = rules.jointSpace(graph.group(first), graph.group(second));
  if (!space ||
      !rules.isWorthwhile(std::min(producerOrSibling, consumer), std::max(producerOrSibling, consumer)))
    return false;
  const std::optional<FusionGraph::Between> between = paths.findBetween(first, second);
  if (!between)
    return false;
  graph.merge(first, second, *space, *between);
  return true;
}

bool FusionSearch::mergeProducers() {
  bool changed = false;
  for (auto [id, consumer] : llvm::enumerate(graph.nodes())) {
    if (!consumer.space)
      continue;
    SmallVector<std::pair<int64_t, unsigned>> producers;
    for (auto [read, made] : llvm::zip_equal(consumer.space->reads, consumer.producers))
      if (made)
        producers.push_back({-tensorBytes(read.value.getType()), *made});
    llvm::sort(producers); // largest first
    for (auto [bytes, made] : producers)
      changed |= tryMerge(made, id);
  }
  return changed;
}

/// Maximum number of earlier readers of a value with which a later reader is tried. In a deep model a value
/// may have as many readers as there are layers, and a kernel holds few of them (FusionLimits::buffers).
static constexpr size_t kEarlierReaders = 256;

/// Merges the group of `late` with those of the nearest nodes of `early`. A rejected group is tried again
/// only after a merge.
bool FusionSearch::mergeWithEarlier(ArrayRef<unsigned> early, unsigned late) {
  bool changed = false;
  early = early.take_back(std::min(early.size(), kEarlierReaders));
  llvm::SmallDenseSet<std::pair<unsigned, unsigned>>
      rejected; // pairs of group and library calls, on which isWorthwhile() depends
  for (unsigned id : early) {
    const std::pair<unsigned, unsigned> asked = {graph.node(id).group, graph.libraryCalls(id)};
    if (rejected.contains(asked))
      continue;
    if (tryMerge(id, late)) {
      changed = true;
      rejected.clear();
    } else {
      rejected.insert(asked);
    }
  }
  return changed;
}

bool FusionSearch::mergeSiblings() {
  llvm::MapVector<Value, SmallVector<unsigned>> readers;
  for (auto [id, node] : llvm::enumerate(graph.nodes()))
    if (node.space)
      for (const Read &read : node.space->reads)
        if (read.value && read.pattern.isIdentity() && !read.table && node.space->count > 1)
          readers[read.value].push_back(id);
  bool changed = false;
  for (auto &[value, ids] : readers)
    for (size_t i = 1; i < ids.size(); ++i)
      changed |= mergeWithEarlier(ArrayRef(ids).take_front(i), ids[i]);
  return changed;
}

void FusionSearch::run() {
  while (mergeProducers() || mergeSiblings()) {
  }
}
