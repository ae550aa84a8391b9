#include "runtime/comm/local/local_hosts.h"

#include "runtime/comm/host_message.h"

namespace trainc {

/// Messages take turns between two places: whoever comes to the next barrier has read those of this one.
bool LocalHosts::exchange(std::span<const std::byte> own, std::span<std::byte> all) {
  const uint64_t turn = turn_++ % 2;
  memory_.state(rank_).told[turn].set(own);
  if (!rendezvous_.arrive(memory_.hosts()))
    return false;
  for (uint32_t rank = 0; rank < memory_.ranks(); ++rank) {
    const HostMessage &told = memory_.state(rank).told[turn];
    if (told.copyTo(all.subspan(rank * own.size(), own.size())))
      continue;
    memory_.fail(rank, differentProgramReason(told, own.size()));
    return false;
  }
  return true;
}

} // namespace trainc
