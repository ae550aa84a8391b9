// Sockets by which processes of one host find each other.
#pragma once

#include "runtime/base/status.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace trainc {

/// An open descriptor, closed at the end.
class Descriptor {
public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor &&other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor();

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

private:
  int number_;
};

/// What was received: its bytes, and a descriptor where one came with them.
struct Packet {
  std::string bytes;
  Descriptor descriptor;
};

/// Listens on a name that leaves nothing in the file system; none where somebody does so already.
std::optional<Descriptor> listenLocally(const std::string &name, int backlog);
/// Connects to who listens on the name; none where nobody does.
std::optional<Descriptor> connectLocally(const std::string &name);
/// Takes the next connection of a process of this user, until `deadline` (of the steady clock, in seconds).
std::optional<Descriptor> acceptLocally(const Descriptor &listener, double deadline);

/// Sends one packet, with a descriptor unless it is -1; false where the other end is gone.
bool sendPacket(const Descriptor &socket, std::span<const std::byte> bytes, int descriptor = -1);
/// Waits until `deadline` for one packet of at most `limit` bytes; nothing where none comes.
std::optional<Packet> receivePacket(const Descriptor &socket, size_t limit, double deadline);

} // namespace trainc
