// Search for a path from one group to another through third ones, which would make their merge a cycle.
#pragma once

#include "lib/Fusion/FusionGraph.h"

namespace trainc {

/// Searches for paths between groups of a graph, which must outlive the search.
class FusionPaths {
public:
  explicit FusionPaths(const FusionGraph &graph) : graph(graph), seen(graph.groups().size()) {}

  /// Returns the groups between `first` and `second`, of which `first` is earlier in the order; none if a
  /// path leads from one to the other through a third group.
  std::optional<FusionGraph::Between> findBetween(unsigned first, unsigned second);
  /// Number of groups visited so far.
  uint64_t searched() const { return searchedGroups; }

private:
  const FusionGraph &graph;
  std::vector<unsigned> seen; ///< by group, the last search that visited it
  unsigned searches = 0;      ///< number of one-sided searches so far; every search has two sides
  uint64_t searchedGroups = 0;
};

} // namespace trainc
