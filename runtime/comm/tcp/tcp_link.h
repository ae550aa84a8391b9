// Authenticated messages between two connected ranks.
#pragma once

#include "base/descriptor.h"
#include "runtime/comm/tcp/tcp_secret.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace trainc {

enum class TcpKind : uint32_t {
  kTold,    ///< value of a rank on a channel, sent to rank 0
  kAll,     ///< values of all ranks on a channel
  kBeat,    ///< a heartbeat (TcpCommunicator::Life), sent to rank 0
  kTable,   ///< heartbeats of all ranks
  kFailure, ///< a rank has failed; the payload is the reason
  kLeft,    ///< this rank's run has ended
};

struct TcpHeader {
  TcpKind kind;
  uint32_t rank;    ///< the failed rank
  uint32_t channel; ///< used by kTold and kAll
};

/// A non-blocking socket with authenticated messages. Each message carries a message authentication code over
/// its content, direction and sequence number; the key is unique to the connection.
class TcpLink {
public:
  /// `isHost` is true on rank 0.
  TcpLink(Descriptor socket, const TcpDigest &key, bool isHost, size_t mostPayload);

  void queue(const TcpHeader &header, std::span<const std::byte> payload);
  /// Sends as much as possible; returns false if the peer is gone.
  bool flush();
  using Visitor = std::function<void(const TcpHeader &, std::span<const std::byte>)>;
  /// Visits all received messages; returns false if the peer is gone or a code is wrong.
  bool receive(const Visitor &visit);
  bool hasQueued() const { return !out_.empty(); }
  int socket() const { return socket_.get(); }

private:
  TcpDigest codeOf(bool ofHost, uint64_t number, std::span<const std::byte> body) const;

  Descriptor socket_;
  TcpDigest key_;
  bool isHost_;
  size_t mostBody_;
  uint64_t sent_ = 0, received_ = 0;
  std::vector<std::byte> in_, out_;
};

} // namespace trainc
