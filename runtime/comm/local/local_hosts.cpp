#include "runtime/comm/local/local_hosts.h"

#include "runtime/comm/host_message.h"

namespace trainc {

/// Messages take turns between two places: whoever comes to the next barrier has read those of this one.
bool LocalHosts::exchange(std::span<const std::byte> own, std::span<std::byte> all) {
  const uint64_t turn = turn_++ % 2;
  memory_.state(rank_).told[turn].set(own);
  if (!rendezvous_.arrive(memory_.hosts()))
    return false;
  return gatherTold(
      memory_.ranks(), own.size(),
      [&](uint32_t rank) -> const HostMessage & { return memory_.state(rank).told[turn]; },
      [&](uint32_t rank, const std::string &reason) { memory_.fail(rank, reason); }, all);
}

} // namespace trainc
