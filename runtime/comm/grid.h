// Rank groups of collectives.
#pragma once

#include "base/status.h"
#include "plan/schema/plan_generated.h"

#include <cstdint>

namespace trainc {

/// A group of `count` ranks: `first`, `first + stride`, and so on. A place is a rank's index within the
/// group.
struct Members {
  uint32_t first, stride, count;

  uint32_t rankAt(uint32_t place) const { return first + place * stride; }
  uint32_t placeOf(uint32_t rank) const { return (rank - first) / stride; }
};

/// All ranks, arranged in rows of `shardRanks`: a shard group is a row, a replica group a column.
struct Grid {
  uint32_t ranks = 1;
  uint32_t shardRanks = 1; ///< divides `ranks`

  /// The group of kind `group` that contains `rank`.
  Members members(fb::Group group, uint32_t rank) const {
    switch (group) {
    case fb::Group::All:
      break;
    case fb::Group::Shard:
      return {rank / shardRanks * shardRanks, 1, shardRanks};
    case fb::Group::Replica:
      return {rank % shardRanks, shardRanks, ranks / shardRanks};
    }
    return {0, 1, ranks};
  }

  /// Number of distinct groups: all ranks, the rows and the columns.
  uint32_t sets() const { return 1 + ranks / shardRanks + shardRanks; }

  /// Index, below sets(), of the group of kind `group` that contains `rank`.
  uint32_t setOf(fb::Group group, uint32_t rank) const {
    switch (group) {
    case fb::Group::All:
      break;
    case fb::Group::Shard:
      return 1 + rank / shardRanks;
    case fb::Group::Replica:
      return 1 + ranks / shardRanks + rank % shardRanks;
    }
    return 0;
  }
};

/// Fails with kInvalidInput if there are no ranks or their number is not a multiple of shardRanks.
inline Status checkGrid(Grid grid) {
  if (grid.ranks == 0)
    return invalidInput("a group needs at least one rank");
  if (grid.shardRanks == 0 || grid.ranks % grid.shardRanks != 0)
    return invalidInput("{} ranks cannot be divided into shard groups of {}", grid.ranks, grid.shardRanks);
  return {};
}

} // namespace trainc
