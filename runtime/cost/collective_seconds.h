// How long ranks take to exchange what they have: rings through nodes and the network between them.
#pragma once

#include "runtime/cost/machine.h"

#include <cstdint>

namespace trainc {

/// Which ranks meet: of `all`, those that are `stride` apart, `members` of them; and so do the others at the
/// same time, in groups of their own.
struct RankGroupShape {
  uint32_t all = 1, members = 1, stride = 1;
};

/// The way of the numbers from each member of a group to the next, and from the last to the first. Ranks are
/// numbered through the nodes.
struct Ring {
  uint32_t members = 1;
  uint32_t nodes = 1;       ///< that a group's members are on, at most
  uint32_t leavingNode = 0; ///< ways of all groups that lead out of one node, at most
};

Ring ringOf(const RankGroupShape &group, uint32_t nodeRanks);

/// Bytes that each member sends for tensors of `bytes`: (members - 1) / members of them; twice that for an
/// all-reduce.
int64_t ringBytes(bool isAllReduce, int64_t bytes, int64_t members);

/// Seconds from when all ranks have begun a collective, of which each sends so many bytes, to its end: they
/// meet, numbers go from rank to rank, and the slowest way bounds the bytes. Groups that leave a node share
/// its way out.
double collectiveSeconds(const RankGroupShape &group, bool isAllReduce, double bytesSent,
                         const Machine &machine);

} // namespace trainc
