// Sockets by which processes of one host find each other.
#pragma once

#include "runtime/base/descriptor.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

namespace trainc {

/// What was received: its bytes, and a descriptor if one came with them.
struct Packet {
  std::string bytes;
  Descriptor descriptor;
};

/// A process that has come, and the first that it said.
struct Visitor {
  Descriptor socket;
  Packet packet;
};

/// How an attempt to connect ended.
struct Connection {
  Descriptor socket;             ///< none where nobody listens, or somebody of another user
  std::optional<uid_t> stranger; ///< the other user who listens there
};

/// Listens on a name that leaves nothing in the file system; none where somebody does so already.
std::optional<Descriptor> listenLocally(const std::string &name, int backlog);
/// Connects to who listens on the name, if it is a process of this user; never waits.
Connection connectLocally(const std::string &name);

/// Sends one packet, with a descriptor unless it is -1; false where the other end is gone or takes nothing.
bool sendPacket(const Descriptor &socket, std::span<const std::byte> bytes, int descriptor = -1);
/// Waits until `deadline` (of the steady clock, in seconds) for one packet of at most `limit` bytes and one
/// descriptor; nothing where none comes, or a larger one.
std::optional<Packet> receivePacket(const Descriptor &socket, size_t limit, double deadline);

/// Lets processes of this user in, however many come, and listens to all of them at once: one that says
/// nothing holds nobody up, and is shown out after a while.
class Reception {
public:
  /// `limit`: of the bytes of a first packet.
  Reception(const Descriptor &listener, size_t limit) : listener_(listener), limit_(limit) {}

  /// The next that has said something; nothing when `deadline` has passed.
  std::optional<Visitor> next(double deadline);
  /// Connections of other users so far. All were closed at once.
  uint32_t strangers() const { return strangers_; }

private:
  struct Silent {
    Descriptor socket;
    double until; ///< when it has said nothing by then, it is shown out
  };

  bool wait(double deadline);
  void letIn();
  void showOut();

  const Descriptor &listener_;
  size_t limit_;
  std::vector<Silent> silent_; ///< in the order in which they have come
  uint32_t strangers_ = 0;
};

} // namespace trainc
