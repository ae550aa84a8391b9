// Sockets by which processes of one host find each other.
#pragma once

#include "base/descriptor.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

namespace trainc {

/// A received packet: its bytes, and a descriptor if one was attached.
struct Packet {
  std::string bytes;
  Descriptor descriptor;
};

/// A process that has connected, and its first packet.
struct IncomingConnection {
  Descriptor socket;
  Packet packet;
};

/// Result of an attempt to connect.
struct Connection {
  Descriptor socket;              ///< empty if nobody listens, or another user does
  std::optional<uid_t> otherUser; ///< the other user, if one listens there
};

/// Listens on an abstract socket name, which leaves nothing in the file system; returns nothing if the name
/// is taken.
std::optional<Descriptor> listenLocally(const std::string &name, int backlog);
/// Connects to the listener on `name` if its process belongs to this user; never blocks.
Connection connectLocally(const std::string &name);

/// Sends one packet, with a descriptor unless it is -1; returns false if the peer is gone or its buffer is
/// full.
bool sendPacket(const Descriptor &socket, std::span<const std::byte> bytes, int descriptor = -1);
/// Receives one packet of at most `limit` bytes and one descriptor. Returns nothing if none arrives until
/// `deadline` (in steadySeconds()) or it is larger.
std::optional<Packet> receivePacket(const Descriptor &socket, size_t limit, double deadline);

/// Accepts processes of this user and listens to all of them at once. A process that sends nothing delays no
/// other, and is disconnected after a while.
class Acceptor {
public:
  /// `limit` bounds the bytes of a first packet.
  Acceptor(const Descriptor &listener, size_t limit) : listener_(listener), limit_(limit) {}

  /// The next process that has sent a packet; nothing once `deadline` has passed.
  std::optional<IncomingConnection> next(double deadline);
  /// Number of connections by other users so far. All were closed at once.
  uint32_t ofOtherUsers() const { return ofOtherUsers_; }

private:
  struct PendingConnection {
    Descriptor socket;
    double until; ///< deadline of the first packet, after which the connection is closed
  };

  bool wait(double deadline);
  void acceptConnections();
  void closeSilent();

  const Descriptor &listener_;
  size_t limit_;
  std::vector<PendingConnection> pending_; ///< in order of arrival
  uint32_t ofOtherUsers_ = 0;
};

} // namespace trainc
