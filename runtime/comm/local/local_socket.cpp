#include "runtime/comm/local/local_socket.h"

#include "base/clock.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace trainc {

namespace {

/// An address in the abstract namespace: the name begins with a zero byte.
struct Address {
  sockaddr_un data{.sun_family = AF_UNIX, .sun_path = {}};
  socklen_t length;

  explicit Address(const std::string &name)
      : length(static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())) {
    std::copy(name.begin(), name.end(), data.sun_path + 1);
  }
  const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&data); }
};

/// Timeout for the first packet of a process that has connected.
constexpr double kSilentSeconds = 5;
/// Maximum number of silent connections; the oldest are closed first.
constexpr size_t kMaxSilent = 256;

Descriptor openSocket() {
  return Descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

bool isReadable(const Descriptor &socket, double deadline) {
  pollfd wanted{.fd = socket.get(), .events = POLLIN, .revents = 0};
  for (;;) {
    const double left = std::max(0.0, deadline - steadySeconds());
    const int ready = ::poll(&wanted, 1, static_cast<int>(left * 1000));
    if (ready > 0)
      return true;
    if ((ready == 0 && left <= 0) || (ready < 0 && errno != EINTR))
      return false;
  }
}

/// User of the peer process; for a listener, the user at the time of listen().
std::optional<uid_t> userOf(const Descriptor &connection) {
  ucred peer{};
  socklen_t length = sizeof(peer);
  if (::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
    return std::nullopt;
  return peer.uid;
}

/// Control buffer for one descriptor.
union ControlData {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

/// The descriptor attached to a message, if any.
Descriptor descriptorIn(msghdr &message) {
  const cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
      header->cmsg_len != CMSG_LEN(sizeof(int)))
    return Descriptor();
  int number = -1;
  std::memcpy(&number, CMSG_DATA(header), sizeof(number));
  return Descriptor(number);
}

} // namespace

std::optional<Descriptor> listenLocally(const std::string &name, int backlog) {
  const Address address(name);
  Descriptor socket = openSocket();
  if (!socket || ::bind(socket.get(), address.get(), address.length) != 0 ||
      ::listen(socket.get(), backlog) != 0)
    return std::nullopt;
  return socket;
}

Connection connectLocally(const std::string &name) {
  const Address address(name);
  Connection connection{.socket = openSocket(), .otherUser = {}};
  if (!connection.socket || ::connect(connection.socket.get(), address.get(), address.length) != 0)
    return {};
  const std::optional<uid_t> user = userOf(connection.socket);
  if (user == ::geteuid())
    return connection;
  return {.socket = Descriptor(), .otherUser = user};
}

bool sendPacket(const Descriptor &socket, std::span<const std::byte> bytes, int descriptor) {
  iovec part{.iov_base = const_cast<std::byte *>(bytes.data()), .iov_len = bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  ControlData control{};
  if (descriptor >= 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof(control.bytes);
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  }
  return ::sendmsg(socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(bytes.size());
}

std::optional<Packet> receivePacket(const Descriptor &socket, size_t limit, double deadline) {
  Packet packet;
  packet.bytes.resize(limit);
  iovec part{.iov_base = packet.bytes.data(), .iov_len = limit};
  ControlData control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen =
      CMSG_LEN(sizeof(int)); // not CMSG_SPACE: its padding would admit a second descriptor
  if (!isReadable(socket, deadline))
    return std::nullopt;
  const ssize_t received = ::recvmsg(socket.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (received <= 0)
    return std::nullopt;
  packet.bytes.resize(static_cast<size_t>(received));
  packet.descriptor = descriptorIn(message);
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
    return std::nullopt; // larger than any valid packet; the kernel has closed the descriptors that did not
                         // fit
  return packet;
}

std::optional<IncomingConnection> Acceptor::next(double deadline) {
  for (;;) {
    for (auto each = pending_.begin(); each != pending_.end(); ++each) {
      if (!isReadable(each->socket, 0))
        continue;
      Descriptor socket = std::move(each->socket);
      pending_.erase(each);
      std::optional<Packet> packet = receivePacket(socket, limit_, 0);
      if (packet)
        return IncomingConnection{std::move(socket), std::move(*packet)};
      break; // closed without a packet, or sent an invalid one
    }
    if (!wait(deadline))
      return std::nullopt;
    acceptConnections();
    closeSilent();
  }
}

/// Waits until a process connects or sends, or has been silent for too long; returns false at the deadline.
bool Acceptor::wait(double deadline) {
  std::vector<pollfd> wanted = {{.fd = listener_.get(), .events = POLLIN, .revents = 0}};
  for (const PendingConnection &each : pending_)
    wanted.push_back({.fd = each.socket.get(), .events = POLLIN, .revents = 0});
  const double until = pending_.empty() ? deadline : std::min(deadline, pending_.front().until);
  const double left = std::max(0.0, until - steadySeconds());
  const int ready = ::poll(wanted.data(), wanted.size(), static_cast<int>(std::ceil(left * 1000)));
  return ready > 0 || steadySeconds() < deadline;
}

void Acceptor::acceptConnections() {
  while (isReadable(listener_, 0)) {
    Descriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket)
      return;
    if (userOf(socket) == ::geteuid())
      pending_.push_back({std::move(socket), steadySeconds() + kSilentSeconds});
    else
      ++ofOtherUsers_;
  }
}

void Acceptor::closeSilent() {
  const double now = steadySeconds();
  while (!pending_.empty() && (pending_.front().until <= now || pending_.size() > kMaxSilent))
    pending_.erase(pending_.begin());
}

} // namespace trainc
