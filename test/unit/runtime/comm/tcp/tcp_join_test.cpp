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

/// Rank 0 waits on, lest an unknown process ends the job.
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
      {"rank 2 runs another plan (checksum 0000000000000008) than rank 0 (0000000000000007); start all ranks "
       "with the same"},
      2);
}

TEST(TcpJoin, TwoRanksOfOneNumberEndAll) {
  expectRefusals(
      3, [](TcpPlace &place) { place.rank = place.rank == 2 ? 1 : place.rank; },
      {"RANK: expected each number from 0 to 2 once, found 1 on two processes; give each rank a number of "
       "its own"},
      2);
}

/// The other one cannot listen, and asks the one that does.
TEST(TcpJoin, TwoRanksZeroEndAll) {
  expectRefusals(
      2, [](TcpPlace &place) { place.rank = 0; },
      {"RANK: expected each number from 0 to 1 once, found 0 on two processes"}, 2);
}

TEST(TcpJoin, NumbersOfRanksThatDifferEndAll) {
  expectRefusals(
      2, [](TcpPlace &place) { place.ranks = place.rank == 1 ? 3 : 2; },
      {"WORLD_SIZE: expected the same on all ranks, found 2 on rank 0 and 3 on rank 1; start all ranks "
       "alike"},
      2);
}

TEST(TcpJoin, ANumberBeyondTheRanksEndsAll) {
  expectRefusals(
      2, [](TcpPlace &place) { place.rank = place.rank == 1 ? 5 : 0; },
      {"RANK: expected a number from 0 to 1, found 5; give each rank a number of its own"}, 2);
}

/// Ranks 2 and 3 do not come: rank 0 waits for them no more than a few of its 30 seconds.
TEST(TcpJoin, WhatDisagreesIsToldWithoutWaitingForAll) {
  const double begin = steadySeconds();
  onTcpRanks(
      2, 5, [](TcpPlace &place) { place.ranks = place.rank == 1 ? 5 : 4; },
      [](uint32_t, const Made &made) {
        EXPECT_THAT(made.status().message(), HasSubstr("found 4 on rank 0 and 5 on rank 1"));
      });
  EXPECT_LT(steadySeconds() - begin, 10);
}

TEST(TcpJoin, ARankThatCannotTakePartEndsAll) {
  for (const uint32_t odd : {0U, 1U}) {
    const uint16_t port = test::freePort();
    const double begin = steadySeconds();
    std::thread declines([&] { declineOverTcp(test::tcpPlace(odd, 3, port), "none.plan: no such file"); });
    std::vector<std::thread> others;
    for (const uint32_t rank : {1 - odd, 2U})
      others.emplace_back([&, rank] {
        const Made made = TcpCommunicator::create(test::tcpPlace(rank, 3, port));
        EXPECT_EQ(made.status().exitCode(), 1);
        EXPECT_EQ(made.status().message(),
                  fmt::format("rank {} failed before it joined the others: none.plan: no such file", odd));
      });
    for (std::thread &other : others)
      other.join();
    declines.join();
    EXPECT_LT(steadySeconds() - begin, 5);
  }
}

/// A reason longer than a message is cut.
TEST(TcpJoin, ALongReasonIsCut) {
  const uint16_t port = test::freePort();
  std::thread declines([&] { declineOverTcp(test::tcpPlace(1, 2, port), std::string(5000, 'x')); });
  const Made made = TcpCommunicator::create(test::tcpPlace(0, 2, port));
  EXPECT_EQ(made.status().message(), "rank 1 failed before it joined the others: " + std::string(999, 'x'));
  declines.join();
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

/// A listener whose queue is full drops packets, as a firewall does.
TEST(TcpJoin, ARankWaitsNoLongerThanAskedIfPacketsAreDropped) {
  const uint16_t port = test::freePort();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto *any = reinterpret_cast<const sockaddr *>(&address);
  const Descriptor listener(::socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_EQ(::bind(listener.get(), any, sizeof(address)), 0);
  ASSERT_EQ(::listen(listener.get(), 0), 0);
  std::vector<Descriptor> queued;
  while (queued.size() < 8) {
    queued.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    (void)::connect(queued.back().get(), any, sizeof(address));
  }
  TcpPlace place = test::tcpPlace(1, 2, port);
  place.waitSeconds = 1;
  const double begin = steadySeconds();
  EXPECT_THAT(TcpCommunicator::create(place).status().message(), HasSubstr("no firewall between"));
  EXPECT_LT(steadySeconds() - begin, 3);
}

/// Unknown processes are silent, send garbage, or disconnect at once.
TEST(TcpJoin, UnknownProcessesCostTheRanksNoTime) {
  const uint16_t port = test::freePort();
  std::atomic<bool> isDone = false;
  std::vector<std::string> warnings;
  std::thread unknown([&] {
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
    std::this_thread::sleep_for(std::chrono::milliseconds(500)); // rank 0 is busy with others
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
  unknown.join();
}

/// More silent connections than rank 0 keeps at once: it closes the oldest connection.
TEST(TcpJoin, ARankComesAgainWhereManyAreSilent) {
  const uint16_t port = test::freePort();
  std::thread others([&] {
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
  others.join();
}

TEST(TcpJoin, ASilentConnectionHoldsNobodyUp) {
  const uint16_t port = test::freePort();
  std::thread other([&] {
    const Descriptor socket = connectTo(port);
    auto late = TcpCommunicator::create(test::tcpPlace(1, 2, port));
    EXPECT_TRUE(late.ok()) << late.status().message();
  });
  auto host = TcpCommunicator::create(test::tcpPlace(0, 2, port));
  EXPECT_TRUE(host.ok()) << host.status().message();
  other.join();
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
