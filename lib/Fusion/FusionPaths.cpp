#include "lib/Fusion/FusionPaths.h"

using namespace mlir;
using namespace trainc;

/// Searches from both ends, each time on the cheaper side so far, until one side is exhausted, and returns
/// the groups visited on that side. Paths lead forward in the order, so that only groups between the two
/// matter. Returns none if there is a path.
std::optional<FusionGraph::Between> FusionPaths::findBetween(unsigned first, unsigned second) {
  if (graph.passesWaypoint(first, second))
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
      return FusionGraph::Between{{side.reached.begin() + 1, side.reached.end()}, isForward};
    unsigned group = side.reached[side.next++];
    ++searchedGroups;
    for (unsigned member : graph.group(group).members) {
      ArrayRef<unsigned> neighbours = isForward ? graph.node(member).after : graph.node(member).before;
      side.cost += 1 + neighbours.size();
      for (unsigned node : neighbours) {
        unsigned found = graph.node(node).group;
        if (found == group || seen[found] == side.mark)
          continue;
        if (found == side.end ? group != side.start : seen[found] == other.mark)
          return std::nullopt;
        bool isBetween = graph.isBefore(first, found) && graph.isBefore(found, second);
        if (!isBetween)
          continue;
        seen[found] = side.mark;
        side.reached.push_back(found);
      }
    }
  }
}
