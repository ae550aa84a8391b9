// Host exchanges over TCP, and errors when a rank fails.
#include "test/unit/runtime/comm/tcp/tcp_ranks.h"

#include "base/clock.h"

#include <chrono>
#include <csignal>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace trainc {
namespace {

using test::onTcpRanks;
using testing::AnyOf;
using testing::HasSubstr;

constexpr double kNever = 60;

Result<std::vector<uint32_t>> tell(Communicator &communicator, uint32_t own) {
  std::vector<uint32_t> all(communicator.ranks());
  TRAINC_RETURN_IF_ERROR(
      communicator.exchange(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all))));
  return all;
}

TEST(TcpCommunicator, AllHearWhatAllTell) {
  onTcpRanks(4, kNever, [](Communicator &communicator) {
    for (uint32_t turn = 0; turn < 50; ++turn) {
      const Result<std::vector<uint32_t>> all = tell(communicator, turn * 10 + communicator.rank());
      ASSERT_TRUE(all.ok()) << all.status().message();
      for (uint32_t rank = 0; rank < 4; ++rank)
        ASSERT_EQ((*all)[rank], turn * 10 + rank);
      if (turn % 7 == 0) {
        ASSERT_TRUE(communicator.barrier().ok());
      }
    }
  });
}

TEST(TcpCommunicator, ABarrierWaitsForTheLast) {
  std::atomic<bool> come{false};
  onTcpRanks(3, kNever, [&](Communicator &communicator) {
    if (communicator.rank() == 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      come = true;
    }
    EXPECT_TRUE(communicator.barrier().ok());
    EXPECT_TRUE(come);
  });
}

TEST(TcpCommunicator, ItMovesNoTensors) {
  onTcpRanks(1, kNever, [](Communicator &communicator) {
    EXPECT_THAT(communicator.allocate("the arena", 64).status().message(),
                HasSubstr("no memory for 'the arena' (64 bytes)"));
  });
}

TEST(TcpCommunicator, AFailureEndsAllWaits) {
  onTcpRanks(3, kNever, [](Communicator &communicator) {
    if (communicator.rank() == 1)
      return communicator.fail("no space left on device");
    EXPECT_THAT(tell(communicator, 1).status().message(),
                HasSubstr("the ranks cannot agree: rank 1 failed: no space left on device"));
    EXPECT_THAT(communicator.failure().message(), HasSubstr("rank 1 failed: no space left on device"));
  });
}

TEST(TcpCommunicator, ARankThatLeavesIsNamed) {
  onTcpRanks(3, kNever, [](Communicator &communicator) {
    if (communicator.rank() != 2) {
      EXPECT_THAT(communicator.barrier().message(),
                  HasSubstr("rank 2 failed: it has ended its run, without an error, while others continue"));
    }
  });
}

TEST(TcpCommunicator, ARankThatIsSilentIsNamedAfterTheTimeout) {
  std::atomic<uint32_t> named{0};
  onTcpRanks(3, 1, [&](Communicator &communicator) {
    if (communicator.rank() == 1) {
      while (named < 2)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return;
    }
    EXPECT_THAT(tell(communicator, 1).status().message(),
                HasSubstr("rank 1 failed: it did not arrive within 1 s: it has died, hangs or is stopped"));
    ++named;
  });
}

TEST(TcpCommunicator, ARankAtWorkIsWaitedFor) {
  onTcpRanks(3, 1, [](Communicator &communicator) {
    if (communicator.rank() == 1)
      for (const double end = steadySeconds() + 2.5; steadySeconds() < end;) {
        communicator.noteProgress();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    const Result<std::vector<uint32_t>> all = tell(communicator, 1);
    EXPECT_TRUE(all.ok()) << all.status().message();
  });
}

TEST(TcpCommunicator, OwnTimeIsWaitedFor) {
  onTcpRanks(2, 1, [](Communicator &communicator) {
    if (communicator.rank() == 1) {
      const Communicator::LocalWait time(&communicator);
      std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    }
    const Result<std::vector<uint32_t>> all = tell(communicator, 1);
    EXPECT_TRUE(all.ok()) << all.status().message();
  });
}

// Neither rank ever receives the message, and the wait does not count as own time.
TEST(TcpCommunicator, AnExchangeIsNobodysOwnTime) {
  onTcpRanks(2, 1, [](Communicator &communicator) {
    if (communicator.rank() == 0) {
      EXPECT_THAT(communicator.barrier().message(), HasSubstr("it waits for ranks that wait for it"));
      return;
    }
    const Communicator::LocalWait time(&communicator);
    EXPECT_THAT(tell(communicator, 1).status().message(), HasSubstr("it waits for ranks that wait for it"));
  });
}

TEST(TcpCommunicator, AllThatWaitElsewhereWaitInVain) {
  onTcpRanks(3, 1, [](Communicator &communicator) {
    Status status;
    for (bool begins = true; status.ok(); begins = false) {
      status = communicator.noteWait(begins);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_THAT(
        status.message(),
        HasSubstr("no rank is known to have failed: all have waited for 1.5 s, so a device, or a link"));
  });
}

TEST(TcpCommunicator, AProcessThatDiesIsNamedAtOnce) {
  const uint16_t port = test::freePort();
  std::vector<pid_t> children;
  for (uint32_t rank = 0; rank < 3; ++rank) {
    children.push_back(fork());
    if (children.back() != 0)
      continue;
    auto made = TcpCommunicator::create(test::tcpPlace(rank, 3, port), {.timeoutSeconds = kNever});
    if (!made.ok() || !(*made)->barrier().ok())
      _exit(1);
    if (rank == 1)
      (void)raise(SIGKILL);
    const std::string message = (*made)->barrier().message();
    const bool named =
        message.find("rank 1 failed: its process has ended, or the network to it has") != std::string::npos;
    _exit(named ? 0 : 2);
  }
  for (uint32_t rank = 0; rank < 3; ++rank) {
    int status = -1;
    EXPECT_EQ(waitpid(children[rank], &status, 0), children[rank]);
    EXPECT_EQ(status, rank == 1 ? SIGKILL : 0) << "rank " << rank;
  }
}

} // namespace
} // namespace trainc
