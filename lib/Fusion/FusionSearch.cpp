// Search for a path from one group to another through third ones, which would make their merge a cycle.
#include "lib/Fusion/FusionGraph.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trainc;

/// Whether a waypoint of a third group is on a path from one group to the other.
bool FusionGraph::passesWaypoint(unsigned from, unsigned to) const {
  return llvm::any_of(waypoints.between(groups[from].view, groups[to].view),
                      [&](unsigned node) { return nodes[node].group != from && nodes[node].group != to; });
}

/// Searches from both ends, each time on the cheaper side so far, until one side is exhausted, and returns
/// the groups visited on that side. Paths lead forward in `order`, so that only groups between the two
/// matter. Returns none if there is a path.
std::optional<FusionGraph::Between> FusionGraph::findBetween(unsigned first, unsigned second) {
  if (passesWaypoint(first, second))
    return std::nullopt;
  struct Side {
    unsigned start, end, mark;
    SmallVector<unsigned> reached;
    size_t next, cost;
  };
  Side forward{first, second, ++searches, {first}, 0, 0}, back{second, first, ++searches, {second}, 0, 0};
  while (true) {
    bool isForward = forward.cost <= back.cost;
    Side &side = isForward ? forward : back;
    const Side &other = isForward ? back : forward;
    if (side.next == side.reached.size())
      return Between{{side.reached.begin() + 1, side.reached.end()}, isForward};
    unsigned group = side.reached[side.next++];
    ++searchedGroups;
    for (unsigned member : groups[group].members) {
      ArrayRef<unsigned> neighbours = isForward ? nodes[member].after : nodes[member].before;
      side.cost += 1 + neighbours.size();
      for (unsigned node : neighbours) {
        unsigned found = nodes[node].group;
        if (found == group || groups[found].seen == side.mark)
          continue;
        if (found == side.end ? group != side.start : groups[found].seen == other.mark)
          return std::nullopt;
        bool isBetween = order.isBefore(first, found) && order.isBefore(found, second);
        if (!isBetween)
          continue;
        groups[found].seen = side.mark;
        side.reached.push_back(found);
      }
    }
  }
}
