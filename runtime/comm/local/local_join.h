// How ranks that were not forked from one parent come to share memory.
#pragma once

#include "runtime/base/hash.h"
#include "runtime/comm/local/local_group.h"
#include "runtime/comm/local/local_socket.h"
#include "runtime/comm/local/shared_memory.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace trainc {

/// What a rank says when it comes; behind it, why it cannot take part, if so.
struct Hello {
  uint32_t rank, ranks;
  uint64_t launch; ///< see launchOf()
  uint64_t fingerprint, bytesPerRank;
};

/// What rank 0 answers: this with the memory, or why the ranks cannot run, behind its exit code.
inline constexpr std::string_view kWelcome = "welcome";
inline constexpr size_t kLongestText = 1000;

inline uint64_t checksum(const std::string &text) { return xxh3(std::as_bytes(std::span(text))); }

/// 0 where a rank knows nothing of the launch.
inline uint64_t launchOf(const LocalPlace &place) {
  return place.launch.empty() ? 0 : checksum(place.launch);
}

/// Rank 0 makes the memory and listens on a socket named after the job; the others come and get it. Both
/// sides make sure that the other is a process of this user. See LocalGroup::join().
Result<std::shared_ptr<SharedMemory>> joinSharedMemory(const LocalPlace &place, Grid grid,
                                                       uint64_t bytesPerRank);

/// See LocalGroup::decline().
void declineToJoin(const LocalPlace &place, uint32_t ranks, std::string_view reason);

/// The name of the socket at which a job's ranks meet. Other users' jobs, and other jobs of this user, have
/// other names; one of any length fits.
std::string meetingPlace(const LocalPlace &place);

/// Tells rank 0, at the other end of `socket`, that this rank has come, and hears what it says.
Result<std::shared_ptr<SharedMemory>> greet(const Descriptor &socket, const LocalPlace &place, Grid grid,
                                            uint64_t bytesPerRank, double deadline);

/// Says that another user has taken the meeting place.
Status strangerListens(const LocalPlace &place, uid_t user);

} // namespace trainc
