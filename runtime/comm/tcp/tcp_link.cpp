#include "runtime/comm/tcp/tcp_link.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace trainc {

namespace {

template <typename Value> void append(std::vector<std::byte> &bytes, const Value &value) {
  const std::span<const std::byte> more = bytesOfValue(value);
  bytes.insert(bytes.end(), more.begin(), more.end());
}

bool mayGoOn() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

} // namespace

TcpLink::TcpLink(Descriptor socket, const TcpDigest &key, bool isHost, size_t maxPayload)
    : socket_(std::move(socket)), key_(key), isHost_(isHost), maxBody_(sizeof(TcpHeader) + maxPayload) {}

TcpDigest TcpLink::codeOf(bool ofHost, uint64_t number, std::span<const std::byte> body) const {
  return authenticate(key_, {bytesOfValue(ofHost), bytesOfValue(number), body});
}

void TcpLink::queue(const TcpHeader &header, std::span<const std::byte> payload) {
  std::vector<std::byte> body;
  append(body, header);
  body.insert(body.end(), payload.begin(), payload.end());
  append(out_, static_cast<uint32_t>(body.size()));
  append(out_, codeOf(isHost_, sent_++, body));
  out_.insert(out_.end(), body.begin(), body.end());
}

bool TcpLink::flush() {
  while (!out_.empty()) {
    const ssize_t sent = ::send(socket_.get(), out_.data(), out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0)
      return mayGoOn();
    out_.erase(out_.begin(), out_.begin() + sent);
  }
  return true;
}

bool TcpLink::receive(const Handler &handle) {
  std::array<std::byte, 4096> piece{};
  bool isOpen = true;
  for (;;) {
    const ssize_t got = ::recv(socket_.get(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (got > 0) {
      in_.insert(in_.end(), piece.begin(), piece.begin() + got);
      continue;
    }
    isOpen = got < 0 && mayGoOn();
    break;
  }
  // Messages received before the end of the connection still count.
  constexpr size_t kBefore = sizeof(uint32_t) + sizeof(TcpDigest);
  size_t at = 0;
  while (in_.size() - at >= kBefore) {
    uint32_t bytes = 0;
    TcpDigest code{};
    std::memcpy(&bytes, in_.data() + at, sizeof(bytes));
    std::memcpy(code.data(), in_.data() + at + sizeof(bytes), sizeof(code));
    if (bytes < sizeof(TcpHeader) || bytes > maxBody_)
      return false;
    if (in_.size() - at < kBefore + bytes)
      break;
    const std::span body(in_.data() + at + kBefore, bytes);
    if (!isSame(code, codeOf(!isHost_, received_++, body)))
      return false;
    TcpHeader header{};
    std::memcpy(&header, body.data(), sizeof(header));
    handle(header, body.subspan(sizeof(header)));
    at += kBefore + bytes;
  }
  in_.erase(in_.begin(), in_.begin() + static_cast<ptrdiff_t>(at));
  return isOpen;
}

} // namespace trainc
