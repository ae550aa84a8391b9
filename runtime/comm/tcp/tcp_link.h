// Messages between two ranks that have met.
#pragma once

#include "runtime/base/descriptor.h"
#include "runtime/comm/tcp/tcp_secret.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace trainc {

enum class TcpKind : uint32_t {
  kTold,    ///< what a rank tells on a channel, to rank 0
  kAll,     ///< what all ranks told on a channel
  kBeat,    ///< a TcpLife, to rank 0
  kTable,   ///< those of all ranks
  kFailure, ///< a rank has failed: why
  kLeft,    ///< this rank's run has ended
};

struct TcpHeader {
  TcpKind kind;
  uint32_t rank;    ///< that failed
  uint32_t channel; ///< of kTold and kAll
};

/// A socket on which nobody else can say anything: each message has a code under a key of this connection,
/// its direction and its number. Nothing waits.
class TcpLink {
public:
  /// `isHost`: of rank 0.
  TcpLink(Descriptor socket, const TcpDigest &key, bool isHost, size_t mostPayload);

  void queue(const TcpHeader &header, std::span<const std::byte> payload);
  /// Sends what it can; false where the other end is gone.
  bool flush();
  using Visitor = std::function<void(const TcpHeader &, std::span<const std::byte>)>;
  /// Visits what has come; false where the other end is gone, or somebody else has spoken.
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
