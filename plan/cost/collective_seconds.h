// Time of collectives: rings through nodes and the network between them.
#pragma once

#include "plan/cost/machine.h"

#include <cstdint>

namespace trainc {

/// Shape of concurrent rank groups: `all` ranks are divided into groups of `members` ranks, `stride` apart.
struct RankGroupShape {
  uint32_t all = 1, members = 1, stride = 1;

  uint32_t groups() const { return all / members; }
  /// Index of the group that contains the rank.
  uint32_t groupOf(uint32_t rank) const { return rank / (members * stride) * stride + rank % stride; }
  /// Index of the rank within its group.
  uint32_t placeOf(uint32_t rank) const { return rank / stride % members; }
  bool operator==(const RankGroupShape &) const = default;
};

/// A ring through the members of a group. Ranks are assigned to nodes consecutively.
struct Ring {
  uint32_t members = 1;
  uint32_t nodes = 1;       ///< maximum number of nodes of a group
  uint32_t leavingNode = 0; ///< maximum number of ring edges of all groups that leave one node
};

/// Returns the ring of `group` on nodes of `nodeRanks` ranks.
Ring ringOf(const RankGroupShape &group, uint32_t nodeRanks);

/// Bytes that each member sends for tensors of `bytes` bytes: (members - 1) / members of them in each of
/// `rounds` passes through the ring.
int64_t ringBytes(uint32_t rounds, int64_t bytes, int64_t members);

/// Time from the moment all ranks have begun a collective, in which each sends `bytesSent`, to its end:
/// meeting time, latency of the hops, and transfer over the slowest edge. Groups that leave a node share its
/// network link.
double collectiveSeconds(const RankGroupShape &group, uint32_t rounds, double bytesSent,
                         const Machine &machine);

} // namespace trainc
