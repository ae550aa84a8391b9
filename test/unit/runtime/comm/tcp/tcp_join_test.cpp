// Who may join a job over TCP.
#include "test/unit/runtime/comm/tcp/tcp_ranks.h"

#include "base/clock.h"

#include <arpa/inet.h>
#include <atomic>
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

/// Rank 0 waits on, lest a stranger ends the job.
TEST(TcpJoin, RankZeroSaysAtOnceThatSomebodyKnowsAnotherSecret) {
  const double begin = steadySeconds();
  std::atomic<double> warned = 0;
  onTcpRanks(
      2, 5,
      [&](TcpPlace &place) {
        place.waitSeconds = 4;
        place.warn = [&](const std::string &) { warned = steadySeconds(); };
        if (place.rank == 1)
          place.secret = "some other secret text";
      },
      [&](uint32_t, const Made &made) { EXPECT_FALSE(made.ok()); });
  EXPECT_LT(warned - begin, 2);
  EXPECT_GT(steadySeconds() - begin, 4);
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

/// Connects to a port of this host; fails if no process listens there.
Descriptor tryConnectTo(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Descriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
  if (::connect(socket.get(), reinterpret_cast<sockaddr *>(&address), sizeof(address)) != 0)
    return {};
  return socket;
}

/// Connects to a port of this host as soon as a process listens there.
Descriptor connectTo(uint16_t port) {
  for (;;) {
    if (Descriptor socket = tryConnectTo(port))
      return socket;
    std::this_thread::yield();
  }
}

/// Strangers are silent, send garbage, or disconnect at once.
TEST(TcpJoin, StrangersCostTheRanksNoTime) {
  const uint16_t port = test::freePort();
  std::atomic<bool> isDone = false;
  std::vector<std::string> warnings;
  std::thread strangers([&] {
    std::vector<Descriptor> silent;
    const std::vector<char> garbage(4096, 'x');
    for (size_t count = 0; !isDone; ++count) {
      Descriptor socket = tryConnectTo(port);
      if (socket && count % 3 == 0)
        silent.push_back(std::move(socket));
      else if (socket && count % 3 == 1)
        (void)!::send(socket.get(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
      if (silent.size() > 300)
        silent.erase(silent.begin());
    }
  });
  const double begin = steadySeconds();
  std::thread rank([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500)); // rank 0 is busy with strangers
    auto late = TcpCommunicator::create(test::tcpPlace(1, 2, port));
    EXPECT_TRUE(late.ok()) << late.status().message();
  });
  TcpPlace place = test::tcpPlace(0, 2, port);
  place.warn = [&](const std::string &text) { warnings.push_back(text); };
  auto host = TcpCommunicator::create(place);
  EXPECT_TRUE(host.ok()) << host.status().message();
  EXPECT_LT(steadySeconds() - begin, 4);
  EXPECT_THAT(warnings,
              testing::ElementsAre(HasSubstr("somebody at 127.0.0.1 does not know the job's secret")));
  rank.join();
  isDone = true;
  strangers.join();
}

/// More silent visitors than rank 0 keeps at once: it closes the oldest connection.
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
              HasSubstr("TRAINC_SECRET_FILE: /nonexistent: cannot open: No such file or directory; set "));
  setenv("TRAINC_SECRET_FILE", "/dev/zero", 1); // endless
  EXPECT_THAT(secretFromEnvironment().status().message(),
              HasSubstr("TRAINC_SECRET_FILE: /dev/zero: expected a regular file, found a device; set "));
  const std::string file = testing::TempDir() + "trainc_secret";
  std::ofstream(file) << "  sixteen characters \n";
  setenv("TRAINC_SECRET_FILE", file.c_str(), 1);
  EXPECT_EQ(*secretFromEnvironment(), "sixteen characters");
  std::ofstream(file) << std::string(100000, 'a');
  EXPECT_THAT(secretFromEnvironment().status().message(),
              HasSubstr("expected at most 65536 bytes, found 100000"));
  setenv("TRAINC_SECRET", "short", 1);
  EXPECT_THAT(secretFromEnvironment().status().message(),
              HasSubstr("the secret of TRAINC_SECRET has 5 characters"));
  unsetenv("TRAINC_SECRET");
  unsetenv("TRAINC_SECRET_FILE");
}

} // namespace
} // namespace trainc
