// How ranks without a common parent come to share memory.
#pragma once

#include "base/hash.h"
#include "runtime/comm/local/local_group.h"
#include "runtime/comm/local/local_socket.h"
#include "runtime/comm/local/shared_memory.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace trainc {

/// Handshake message of a rank; followed by the reason if the rank cannot take part.
struct Handshake {
  uint32_t rank, ranks;
  uint64_t launch; ///< see launchOf()
  uint64_t fingerprint, bytesPerRank;
};
static_assert(sizeof(Handshake) == 32 && std::has_unique_object_representations_v<Handshake>);

/// Reply of rank 0: this word with the memory, or an exit code followed by the reason why the ranks cannot
/// run.
inline constexpr std::string_view kWelcome = "welcome";
inline constexpr size_t kLongestText = 1000;

inline uint64_t checksum(const std::string &text) { return xxh3(std::as_bytes(std::span(text))); }

/// Hash of the launch identifier; 0 if unknown.
inline uint64_t launchOf(const LocalPlace &place) {
  return place.launch.empty() ? 0 : checksum(place.launch);
}

/// Rank 0 creates the memory and listens on a socket named after the job; the others connect and receive the
/// memory. Both sides check that the peer process belongs to this user. See LocalGroup::join().
Result<std::shared_ptr<SharedMemory>> joinSharedMemory(const LocalPlace &place, const Mesh &mesh,
                                                       uint64_t bytesPerRank);

/// See LocalGroup::decline().
void declineToJoin(const LocalPlace &place, uint32_t ranks, std::string_view reason);

/// Name of the socket at which a job's ranks meet: unique to user and job, of bounded length.
std::string meetingSocketName(const LocalPlace &place);

/// Sends the handshake message to rank 0 over `socket` and receives its reply.
Result<std::shared_ptr<SharedMemory>> sendHandshake(const Descriptor &socket, const LocalPlace &place,
                                                    const Mesh &mesh, uint64_t bytesPerRank, double deadline);

/// The error that another user already listens on the job's socket.
Status otherUserListens(const LocalPlace &place, uid_t user);

} // namespace trainc
