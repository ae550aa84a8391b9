// Who may join a job over TCP.
#include "test/unit/runtime/comm/tcp/tcp_ranks.h"

#include <arpa/inet.h>
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>

namespace trainc {
namespace {

using test::onTcpRanks;
using testing::HasSubstr;

using Made = Result<std::unique_ptr<Communicator>>;

/// Expects an error of create() on each rank.
void expectRefusals(uint32_t ranks, const std::function<void(TcpPlace &)> &change,
                    const std::vector<std::string> &texts, int code) {
  onTcpRanks(ranks, 5, change, [&](uint32_t rank, const Made &made) {
    ASSERT_FALSE(made.ok()) << "rank " << rank;
    EXPECT_THAT(made.status().message(), HasSubstr(texts[std::min<size_t>(rank, texts.size() - 1)]));
    EXPECT_EQ(made.status().exitCode(), code);
  });
}

TEST(TcpJoin, ARankThatKnowsAnotherSecretIsTurnedAway) {
  expectRefusals(
      2,
      [](TcpPlace &place) {
        place.waitSeconds = 1;
        if (place.rank == 1)
          place.secret = "some other secret text";
      },
      {"of 2 ranks these have not come to 127.0.0.1:", "is not rank 0 of this job, or knows another secret"},
      1);
}

TEST(TcpJoin, ARankWithAnotherPlanEndsAll) {
  expectRefusals(
      3, [](TcpPlace &place) { place.fingerprint = place.rank == 2 ? 8 : 7; },
      {"rank 2 runs another plan than rank 0; start all ranks with the same"}, 2);
}

TEST(TcpJoin, TwoRanksOfOneNumberEndAll) {
  expectRefusals(
      3, [](TcpPlace &place) { place.rank = place.rank == 2 ? 1 : place.rank; },
      {"two ranks say that they are rank 1; give each a RANK of its own"}, 2);
}

TEST(TcpJoin, RanksThatNeverComeAreNamed) {
  onTcpRanks(
      1, 5, [](TcpPlace &place) { place.ranks = 3, place.waitSeconds = 0.3; },
      [](uint32_t, const Made &made) {
        ASSERT_FALSE(made.ok());
        EXPECT_THAT(made.status().message(), HasSubstr("or know another secret: 1, 2"));
      });
}

TEST(TcpJoin, WithoutRankZeroARankSaysWhereItLooked) {
  TcpPlace place = test::tcpPlace(1, 2, test::freePort());
  place.waitSeconds = 0.3;
  EXPECT_THAT(TcpCommunicator::create(place).status().message(), HasSubstr("nobody listens at 127.0.0.1:"));
}

/// Connects to a port of this host as soon as a process listens there.
Descriptor connectTo(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Descriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
  while (::connect(socket.get(), reinterpret_cast<sockaddr *>(&address), sizeof(address)) != 0)
    std::this_thread::yield();
  return socket;
}

/// More silent visitors than rank 0 accepts at once: it closes new connections until their time is over.
TEST(TcpJoin, ARankComesAgainWhereManyAreSilent) {
  const uint16_t port = test::freePort();
  std::thread visitors([&] {
    std::vector<Descriptor> silent;
    while (silent.size() < 300)
      silent.push_back(connectTo(port));
    TcpPlace place = test::tcpPlace(1, 2, port);
    place.waitSeconds = 60;
    auto late = TcpCommunicator::create(place);
    EXPECT_TRUE(late.ok()) << late.status().message();
  });
  TcpPlace place = test::tcpPlace(0, 2, port);
  place.waitSeconds = 60;
  auto host = TcpCommunicator::create(place);
  EXPECT_TRUE(host.ok()) << host.status().message();
  visitors.join();
}

TEST(TcpJoin, AVisitorThatSaysNothingHoldsNobodyUp) {
  const uint16_t port = test::freePort();
  std::thread visitor([&] {
    const Descriptor socket = connectTo(port);
    auto late = TcpCommunicator::create(test::tcpPlace(1, 2, port));
    EXPECT_TRUE(late.ok()) << late.status().message();
  });
  auto host = TcpCommunicator::create(test::tcpPlace(0, 2, port));
  EXPECT_TRUE(host.ok()) << host.status().message();
  visitor.join();
}

TEST(TcpJoin, TheSecretComesFromTheEnvironment) {
  unsetenv("TRAINC_SECRET");
  unsetenv("TRAINC_SECRET_FILE");
  EXPECT_THAT(secretFromEnvironment().status().message(),
              HasSubstr("need a secret, or anyone could join them"));
  setenv("TRAINC_SECRET_FILE", "/nonexistent", 1);
  EXPECT_THAT(secretFromEnvironment().status().message(),
              HasSubstr("TRAINC_SECRET_FILE: cannot read /nonexistent"));
  const std::string file = testing::TempDir() + "trainc_secret";
  std::ofstream(file) << "  sixteen characters \n";
  setenv("TRAINC_SECRET_FILE", file.c_str(), 1);
  EXPECT_EQ(*secretFromEnvironment(), "sixteen characters");
  setenv("TRAINC_SECRET", "short", 1);
  EXPECT_THAT(secretFromEnvironment().status().message(),
              HasSubstr("the secret of TRAINC_SECRET has 5 characters"));
  unsetenv("TRAINC_SECRET");
  unsetenv("TRAINC_SECRET_FILE");
}

} // namespace
} // namespace trainc
