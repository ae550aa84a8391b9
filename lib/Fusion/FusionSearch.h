// Choice of the groups that are merged into kernels.
#pragma once

#include "lib/Fusion/FusionPaths.h"
#include "lib/Fusion/FusionRules.h"

namespace trainc {

/// Merges groups of a graph, which must outlive the search, as long as the rules allow it and no cycle
/// arises.
class FusionSearch {
public:
  FusionSearch(FusionGraph &graph, FusionLimits limits) : graph(graph), rules(graph, limits), paths(graph) {}

  /// Merges producers into consumers, then groups that read the same value, which saves launches.
  void run();
  /// Number of pairs of groups that run() has tried to merge.
  uint64_t tried() const { return triedPairs; }
  /// Number of groups that run() has visited in searches for paths.
  uint64_t searched() const { return paths.searched(); }

private:
  bool mergeProducers();
  bool mergeSiblings();
  bool mergeWithEarlier(llvm::ArrayRef<unsigned> early, unsigned late);
  bool tryMerge(unsigned producerOrSibling, unsigned consumer);

  FusionGraph &graph;
  FusionRules rules;
  FusionPaths paths;
  uint64_t triedPairs = 0;
};

} // namespace trainc
