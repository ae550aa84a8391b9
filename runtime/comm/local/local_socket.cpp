#include "runtime/comm/local/local_socket.h"

#include "runtime/base/clock.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace trainc {

namespace {

/// In the abstract namespace: the name begins with a zero.
struct Address {
  sockaddr_un data{.sun_family = AF_UNIX, .sun_path = {}};
  socklen_t length;

  explicit Address(const std::string &name)
      : length(static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size())) {
    std::copy(name.begin(), name.end(), data.sun_path + 1);
  }
  const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&data); }
};

Descriptor openSocket() { return Descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)); }

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

bool isOwnUser(const Descriptor &connection) {
  ucred peer{};
  socklen_t length = sizeof(peer);
  return ::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
         peer.uid == ::geteuid();
}

/// Room for one descriptor beside a packet.
union ControlData {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

} // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0)
    ::close(number_);
}

std::optional<Descriptor> listenLocally(const std::string &name, int backlog) {
  const Address address(name);
  Descriptor socket = openSocket();
  if (!socket || ::bind(socket.get(), address.get(), address.length) != 0 ||
      ::listen(socket.get(), backlog) != 0)
    return std::nullopt;
  return socket;
}

std::optional<Descriptor> connectLocally(const std::string &name) {
  const Address address(name);
  Descriptor socket = openSocket();
  if (!socket || ::connect(socket.get(), address.get(), address.length) != 0)
    return std::nullopt;
  return socket;
}

std::optional<Descriptor> acceptLocally(const Descriptor &listener, double deadline) {
  while (isReadable(listener, deadline)) {
    Descriptor connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection && isOwnUser(connection))
      return connection;
  }
  return std::nullopt;
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
  return ::sendmsg(socket.get(), &message, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
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
  message.msg_controllen = sizeof(control.bytes);
  if (!isReadable(socket, deadline))
    return std::nullopt;
  const ssize_t received = ::recvmsg(socket.get(), &message, MSG_CMSG_CLOEXEC);
  if (received <= 0)
    return std::nullopt;
  packet.bytes.resize(static_cast<size_t>(received));
  const cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header && header->cmsg_type == SCM_RIGHTS) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(header), sizeof(number));
    packet.descriptor = Descriptor(number);
  }
  return packet;
}

} // namespace trainc
