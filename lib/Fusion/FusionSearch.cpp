// Looks for a way from one group to another through third ones, which forbids that the two merge.
#include "lib/Fusion/FusionGraph.h"

using namespace mlir;
using namespace trainc;

/// Looks from both sides, on the one that has cost less so far, until one has nothing left to look at: what
/// it came by. Ways lead forward in `order`, so only what lies between the two matters. Nothing if there is a
/// way.
std::optional<FusionGraph::Between> FusionGraph::findBetween(unsigned first, unsigned second) {
  if (groups[first].view.leadsTo(groups[second].view))
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
