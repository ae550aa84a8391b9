#include "plan/cost/collective_seconds.h"

#include <algorithm>
#include <bit>

namespace trainc {

/// The next rank after `rank` in its ring.
static uint32_t nextOf(uint32_t rank, const RankGroupShape &group) {
  const uint32_t place = group.placeOf(rank);
  return rank - place * group.stride + (place + 1) % group.members * group.stride;
}

/// Further nodes repeat the pattern of these ranks.
static constexpr uint32_t kRanksLookedAt = 4096;

Ring ringOf(const RankGroupShape &group, uint32_t nodeRanks) {
  Ring ring{.members = group.members};
  if (group.all <= nodeRanks)
    return ring;
  const uint64_t reach = uint64_t{group.members} * group.stride;
  ring.nodes = static_cast<uint32_t>(std::min<uint64_t>(group.members, (reach + nodeRanks - 1) / nodeRanks));
  const uint32_t looked = std::min(group.all, std::max(kRanksLookedAt, nodeRanks));
  uint32_t leaving = 0;
  for (uint32_t rank = 0; rank < looked; ++rank) {
    leaving = rank % nodeRanks == 0 ? 0 : leaving;
    leaving += nextOf(rank, group) / nodeRanks != rank / nodeRanks;
    ring.leavingNode = std::max(ring.leavingNode, leaving);
  }
  return ring;
}

int64_t ringBytes(uint32_t rounds, int64_t bytes, int64_t members) {
  return rounds * bytes * (members - 1) / members;
}

/// Latency from the first send to the last rank; several rounds go through the ring or a tree of nodes.
static double hopSeconds(const Ring &ring, uint32_t rounds, const Machine &machine) {
  const auto takes = [&](uint32_t inNodes, uint32_t between) {
    return inNodes * machine.linkHopSeconds + between * machine.networkHopSeconds;
  };
  const double through = takes(ring.members - ring.nodes, ring.nodes - 1);
  if (rounds == 1)
    return through;
  const auto levels = static_cast<uint32_t>(std::bit_width(ring.nodes - 1));
  return rounds * std::min(through, takes((ring.members - 1) / ring.nodes, levels));
}

double collectiveSeconds(const RankGroupShape &group, uint32_t rounds, double bytesSent,
                         const Machine &machine) {
  const Ring ring = ringOf(group, machine.nodeRanks);
  const double network = machine.networkBytesPerSecond / std::max(ring.leavingNode, 1U);
  const double rate =
      ring.leavingNode > 0 ? std::min(machine.linkBytesPerSecond, network) : machine.linkBytesPerSecond;
  return machine.meetSeconds + hopSeconds(ring, rounds, machine) + bytesSent / rate;
}

} // namespace trainc
