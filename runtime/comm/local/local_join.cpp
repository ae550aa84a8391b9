#include "runtime/comm/local/local_join.h"

#include "base/clock.h"
#include "runtime/comm/local/local_host.h"

#include <chrono>
#include <thread>
#include <unistd.h>

namespace trainc {

namespace {

constexpr auto kBetweenTries = std::chrono::milliseconds(10);

/// Retries until rank 0 listens. Gives up at once if another user listens there.
Connection findHost(const LocalPlace &place, double deadline) {
  for (const std::string name = meetingSocketName(place);;) {
    Connection connection = connectLocally(name);
    if (connection.socket || connection.otherUser || steadySeconds() >= deadline)
      return connection;
    std::this_thread::sleep_for(kBetweenTries);
  }
}

Result<std::shared_ptr<SharedMemory>> joinHost(const LocalPlace &place, const Mesh &mesh,
                                               uint64_t bytesPerRank) {
  const double deadline = steadySeconds() + place.waitSeconds;
  const Connection host = findHost(place, deadline);
  if (host.otherUser)
    return otherUserListens(place, *host.otherUser);
  if (!host.socket)
    return failed("rank {}: rank 0 has not come within {} s; start all ranks on this host, with the same "
                  "MASTER_ADDR and MASTER_PORT, or use --comm=mpi for several hosts",
                  place.rank, place.waitSeconds);
  return sendHandshake(host.socket, place, mesh, bytesPerRank, deadline);
}

} // namespace

std::string meetingSocketName(const LocalPlace &place) {
  return fmt::format("trainc-{}-{:016x}", ::geteuid(), checksum(place.job));
}

Status otherUserListens(const LocalPlace &place, uid_t user) {
  return failed(
      "rank {}: a process of another user (uid {}) listens where the ranks of the job '{}' meet; give "
      "the job another MASTER_PORT",
      place.rank, user, place.job);
}

Result<std::shared_ptr<SharedMemory>> sendHandshake(const Descriptor &socket, const LocalPlace &place,
                                                    const Mesh &mesh, uint64_t bytesPerRank,
                                                    double deadline) {
  const Handshake handshake{place.rank, mesh.ranks(), launchOf(place), place.fingerprint, bytesPerRank};
  sendPacket(socket, std::as_bytes(std::span(&handshake, 1)));
  // Rank 0's deadline is earlier, so that its reason arrives.
  std::optional<Packet> packet = receivePacket(socket, kLongestText + 1, deadline + 1);
  if (!packet)
    return failed("rank {}: rank 0 ended before all ranks had come", place.rank);
  if (packet->bytes != kWelcome)
    return Status(packet->bytes.front() == '2' ? StatusCode::kInvalidInput : StatusCode::kFailed,
                  packet->bytes.substr(1));
  return SharedMemory::attach(std::move(packet->descriptor), mesh, bytesPerRank);
}

Result<std::shared_ptr<SharedMemory>> joinSharedMemory(const LocalPlace &place, const Mesh &mesh,
                                                       uint64_t bytesPerRank) {
  if (place.rank == 0)
    return LocalHost(place, mesh, bytesPerRank).run();
  return joinHost(place, mesh, bytesPerRank);
}

void declineToJoin(const LocalPlace &place, uint32_t ranks, std::string_view reason) {
  if (place.rank == 0)
    return LocalHost(place, Mesh({{"shard", ranks}}), 0).decline(reason);
  const Connection host = findHost(place, steadySeconds() + place.waitSeconds);
  if (!host.socket)
    return;
  const Handshake handshake{
      .rank = place.rank, .ranks = ranks, .launch = launchOf(place), .fingerprint = 0, .bytesPerRank = 0};
  std::string packet(reinterpret_cast<const char *>(&handshake), sizeof(handshake));
  packet += reason.substr(0, kLongestText);
  sendPacket(host.socket, std::as_bytes(std::span(packet)));
}

} // namespace trainc
