#include "runtime/comm/grid.h"

namespace trainc {

Status checkGrid(Grid grid) {
  if (grid.ranks == 0)
    return invalidInput("a group needs at least one rank");
  if (grid.shardRanks == 0 || grid.ranks % grid.shardRanks != 0)
    return invalidInput("{} ranks cannot be divided into shard groups of {}", grid.ranks, grid.shardRanks);
  return {};
}

} // namespace trainc
