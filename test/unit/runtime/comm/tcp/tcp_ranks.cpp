#include "test/unit/runtime/comm/tcp/tcp_ranks.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <vector>

namespace trainc::test {

uint16_t freePort() {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof(address);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr *>(&address), bytes), 0);
  EXPECT_EQ(::getsockname(socket.get(), reinterpret_cast<sockaddr *>(&address), &bytes), 0);
  return ntohs(address.sin_port);
}

TcpPlace tcpPlace(uint32_t rank, uint32_t ranks, uint16_t port) {
  return {.rank = rank,
          .ranks = ranks,
          .address = "127.0.0.1",
          .port = port,
          .secret = "a secret of many letters",
          .fingerprint = 7,
          .waitSeconds = 30};
}

void onTcpRanks(uint32_t ranks, double timeoutSeconds, const std::function<void(TcpPlace &)> &change,
                const std::function<void(uint32_t rank, Result<std::unique_ptr<Communicator>>)> &made) {
  const uint16_t port = freePort();
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      TcpPlace place = tcpPlace(rank, ranks, port);
      change(place);
      made(rank, TcpCommunicator::create(place, {.timeoutSeconds = timeoutSeconds}));
    });
  for (std::thread &thread : threads)
    thread.join();
}

void onTcpRanks(uint32_t ranks, double timeoutSeconds, const std::function<void(Communicator &)> &body) {
  onTcpRanks(
      ranks, timeoutSeconds, [](TcpPlace &) {},
      [&](uint32_t, Result<std::unique_ptr<Communicator>> made) {
        ASSERT_TRUE(made.ok()) << made.status().message();
        body(**made);
      });
}

} // namespace trainc::test
