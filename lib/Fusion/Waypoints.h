// Ops that most paths through a block pass, which shorten searches for paths.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <algorithm>
#include <vector>

namespace trainc {

/// Nodes on a graph's longest path. In a step this path runs through all layers and back, and along sums over
/// all parameters, so that most connected pairs of nodes are connected through a waypoint. No search is
/// needed for such pairs.
class Waypoints {
public:
  /// Position of a node, or of several together, relative to the waypoints, which are numbered along the
  /// path.
  struct View {
    unsigned firstAfter = ~0U; ///< first waypoint that can be reached from here
    unsigned endBefore = 0;    ///< one more than the last waypoint from which this can be reached
    View operator|(const View &other) const {
      return {std::min(firstAfter, other.firstAfter), std::max(endBefore, other.endBefore)};
    }
  };

  /// Finds the waypoints of a graph of `count` nodes in topological order.
  void find(unsigned count, llvm::function_ref<llvm::ArrayRef<unsigned>(unsigned)> successors);

  const View &of(unsigned node) const { return views[node]; }
  /// Returns the waypoints on paths from a group with the view `from` to one with the view `to`. They may
  /// belong to either group.
  llvm::ArrayRef<unsigned> between(const View &from, const View &to) const {
    return from.firstAfter < to.endBefore
               ? llvm::ArrayRef(way).slice(from.firstAfter, to.endBefore - from.firstAfter)
               : llvm::ArrayRef<unsigned>();
  }

private:
  std::vector<View> views;
  std::vector<unsigned> way; ///< the waypoints in their order
};

} // namespace trainc
