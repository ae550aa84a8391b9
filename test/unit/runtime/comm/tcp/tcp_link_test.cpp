// Messages over a socket to which an attacker may write.
#include "runtime/comm/tcp/tcp_link.h"

#include <array>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <vector>

namespace trainc {
namespace {

constexpr size_t kMaxPayload = 64;

/// A link, and the other end of its socket in the test's hands.
struct Ends {
  Ends() {
    std::array<int, 2> pair{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
    first = pair[0], second = pair[1];
  }
  int first = -1, second = -1;
};

std::vector<std::byte> taken(int socket) {
  std::vector<std::byte> bytes(4096);
  const ssize_t got = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
  bytes.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return bytes;
}

/// A rank's message on the wire.
std::vector<std::byte> frame(std::string_view text, const TcpDigest &key, int before = 0) {
  const Ends ends;
  TcpLink link(Descriptor(ends.first), key, /*isHost=*/false, kMaxPayload);
  for (int i = 0; i < before; ++i) {
    link.queue({}, {});
    EXPECT_TRUE(link.flush());
    (void)taken(ends.second);
  }
  link.queue({.kind = TcpKind::kValue, .rank = 3, .channel = 1}, bytesOfText(text));
  EXPECT_TRUE(link.flush());
  const Descriptor other(ends.second);
  return taken(ends.second);
}

/// The message that rank 0 receives; nothing if it closes the connection.
std::optional<std::string> heard(const std::vector<std::byte> &bytes, const TcpDigest &key) {
  const Ends ends;
  const Descriptor other(ends.second);
  TcpLink link(Descriptor(ends.first), key, /*isHost=*/true, kMaxPayload);
  EXPECT_EQ(::send(ends.second, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  std::string text;
  const bool isOpen = link.receive([&](const TcpHeader &header, std::span<const std::byte> payload) {
    EXPECT_EQ(header.rank, 3U);
    text.append(reinterpret_cast<const char *>(payload.data()), payload.size());
  });
  return isOpen ? std::optional(text) : std::nullopt;
}

TEST(TcpLink, AMessageArrives) {
  const TcpDigest key = drawNonce();
  EXPECT_EQ(heard(frame("hello", key), key), "hello");
}

TEST(TcpLink, HalfAMessageIsWaitedFor) {
  const TcpDigest key = drawNonce();
  std::vector<std::byte> bytes = frame("hello", key);
  bytes.pop_back();
  EXPECT_EQ(heard(bytes, key), "");
}

TEST(TcpLink, AChangedBitEndsTheLink) {
  const TcpDigest key = drawNonce();
  const std::vector<std::byte> bytes = frame("hello", key);
  for (size_t i = sizeof(uint32_t); i < bytes.size(); ++i) {
    std::vector<std::byte> changed = bytes;
    changed[i] ^= std::byte{1};
    EXPECT_EQ(heard(changed, key), std::nullopt) << "byte " << i;
  }
}

TEST(TcpLink, ARepeatedMessageEndsTheLink) {
  const TcpDigest key = drawNonce();
  std::vector<std::byte> twice = frame("hello", key);
  const std::vector<std::byte> once = twice;
  twice.insert(twice.end(), once.begin(), once.end());
  EXPECT_EQ(heard(twice, key), std::nullopt);
}

TEST(TcpLink, AMessageOfAnotherTimeOrKeyOrTooLongOneEndsTheLink) {
  const TcpDigest key = drawNonce();
  EXPECT_EQ(heard(frame("hello", key, 1), key), std::nullopt);
  EXPECT_EQ(heard(frame("hello", drawNonce()), key), std::nullopt);
  EXPECT_EQ(heard(frame(std::string(kMaxPayload + 1, 'x'), key), key), std::nullopt);
}

} // namespace
} // namespace trainc
