// Ops that many ways through a block pass by.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <algorithm>
#include <vector>

namespace trainc {

/// Those nodes of a graph on the longest way through it that stay alone, whatever is merged. In a step this
/// way leads through all layers and back, so that most pairs of nodes with a way between them have one
/// through these: they need not be searched for.
class Waypoints {
public:
  /// What a node, or several together, see of the waypoints, which are numbered along the way.
  struct View {
    unsigned firstAhead = ~0U; ///< the first that can be reached
    unsigned endBehind = 0;    ///< one more than the last that leads here
    View operator|(const View &other) const {
      return {std::min(firstAhead, other.firstAhead), std::max(endBehind, other.endBehind)};
    }
    /// True if a way leads from here to `other` through a waypoint.
    bool leadsTo(const View &other) const { return firstAhead < other.endBehind; }
  };

  /// Looks at a graph of `count` nodes, of which each stands before its successors.
  void find(unsigned count, llvm::function_ref<llvm::ArrayRef<unsigned>(unsigned)> successors,
            llvm::function_ref<bool(unsigned)> staysAlone);

  const View &of(unsigned node) const { return views[node]; }

private:
  std::vector<View> views;
};

} // namespace trainc
