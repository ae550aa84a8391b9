// Authenticated messages between two connected ranks.
#pragma once

#include "base/descriptor.h"
#include "runtime/comm/tcp/tcp_secret.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace trainc {

enum class TcpKind : uint32_t {
  kValue,      ///< value of a rank on a channel, sent to rank 0
  kValues,     ///< values of all ranks on a channel
  kHeartbeat,  ///< a heartbeat (TcpCommunicator::Heartbeat), sent to rank 0
  kHeartbeats, ///< heartbeats of all ranks
  kFailure,    ///< a rank has failed; the payload is the reason
  kLeft,       ///< this rank's run has ended
};

struct TcpHeader {
  TcpKind kind;
  uint32_t rank;    ///< the failed rank
  uint32_t channel; ///< used by kValue and kValues
};
static_assert(sizeof(TcpHeader) == 12 && std::has_unique_object_representations_v<TcpHeader>);

/// A non-blocking socket with authenticated messages. Each message carries a message authentication code over
/// its content, direction and sequence number; the key is unique to the connection.
class TcpLink {
public:
  /// `isHost` is true on rank 0.
  TcpLink(Descriptor socket, const TcpDigest &key, bool isHost, size_t maxPayload);

  void queue(const TcpHeader &header, std::span<const std::byte> payload);
  /// Sends as much as possible; returns false if the peer is gone.
  bool flush();
  using Handler = std::function<void(const TcpHeader &, std::span<const std::byte>)>;
  /// Calls `handle` with each received message; returns false if the peer is gone or a code is wrong.
  bool receive(const Handler &handle);
  bool hasQueued() const { return !out_.empty(); }
  int socket() const { return socket_.get(); }

private:
  TcpDigest codeOf(bool ofHost, uint64_t number, std::span<const std::byte> body) const;

  Descriptor socket_;
  TcpDigest key_;
  bool isHost_;
  size_t maxBody_;
  uint64_t sent_ = 0, received_ = 0;
  std::vector<std::byte> in_, out_;
};

} // namespace trainc
