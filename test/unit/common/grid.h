// Ranks of tests: a mesh of two axes, either of which may have one rank.
#pragma once

#include "plan/facts/mesh.h"

namespace trainc::test {

inline constexpr Axes kReplica{0, 1}, kShard{1, 2}, kBothAxes{0, 2};

/// `ranks` ranks, of which `shardRanks` adjacent ones differ along `shard`.
struct Grid {
  uint32_t ranks = 1;
  uint32_t shardRanks = 1; ///< divides `ranks`

  Mesh mesh() const { return Mesh({{"replica", ranks / shardRanks}, {"shard", shardRanks}}); }
  Members members(Axes axes, uint32_t rank) const { return mesh().members(axes, rank); }
};

} // namespace trainc::test
