// Ranks that are killed, stopped, that fail or hang: the others end, and nothing is left.
#include "tools/trainrun/supervisor.h"

#include "base/stop_signal.h"
#include "runtime/comm/local/local_group.h"
#include "test/unit/runtime/asleep.h"

#include <fstream>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

namespace trainc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint32_t kRanks = 3;

/// Whether this process has mapped a file in the folder of shared memory, which could outlive it.
bool mapsNamedMemory() {
  std::ifstream maps("/proc/self/maps");
  const std::string text{std::istreambuf_iterator<char>(maps), {}};
  EXPECT_FALSE(text.empty());
  return text.find("/dev/shm/") != std::string::npos;
}

void waitUntilStopped(pid_t process) {
  while (test::stateIn(fmt::format("/proc/{}", process)) != 'T')
    ::usleep(1000);
}

/// In a rank: until the supervisor has heard that all other ranks have ended.
void waitUntilAlone() {
  const std::string own = fmt::format("{} ", ::getpid());
  for (std::string children; children != own; ::usleep(1000)) {
    std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", ::getppid()));
    children.assign(std::istreambuf_iterator<char>(file), {});
  }
}

/// In a rank: until the supervisor has taken a signal that was sent to it, and has nothing to do.
void waitUntilTaken(int signal, pid_t supervisor) {
  const auto isPending = [&] {
    std::ifstream file(fmt::format("/proc/{}/status", supervisor));
    for (std::string word; file >> word;)
      if (uint64_t mask = 0; word == "ShdPnd:" && file >> std::hex >> mask)
        return (mask >> (signal - 1) & 1) != 0;
    return false;
  };
  while (isPending() || test::stateIn(fmt::format("/proc/{}", supervisor)) != 'S')
    ::usleep(1000);
}

/// Runs barriers with the others until one fails, and prints the error. Returns 0 after `times` barriers.
int meet(Communicator &communicator, int times) {
  for (int i = 0; i < times; ++i)
    if (const Status status = communicator.barrier(); !status.ok()) {
      (void)std::fprintf(stderr, "%s\n", status.message().c_str());
      return 1;
    }
  return 0;
}

/// Likewise, once per rank: then leaves the others behind.
int meet(const LocalGroup &group, uint32_t rank, int times) {
  const auto communicator = group.communicator(rank);
  return meet(**communicator, times);
}

constexpr int kForever = 1 << 30;

class SupervisorTest : public testing::Test {
protected:
  SupervisorTest() : group_(*LocalGroup::create(Mesh({{"shard", kRanks}}), 64)) {}

  /// Runs ranks to their end, which is soon, and returns the exit code.
  int run(std::function<int(uint32_t)> body, SupervisorTimes times = {}) {
    Supervisor supervisor({.count = kRanks,
                           .run = std::move(body),
                           .fail = [&](uint32_t rank, std::string_view reason) { group_.fail(rank, reason); },
                           .report = [&](std::string_view message) { reports_.emplace_back(message); }},
                          times);
    testing::internal::CaptureStderr();
    const Result<int> code = supervisor.run();
    said_ = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(code.ok()) << code.status().message();
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
    EXPECT_EQ(errno, ECHILD);
    EXPECT_FALSE(mapsNamedMemory()) << "that of the group has no name, so it ends with the ranks";
    return code.ok() ? *code : -1;
  }

  LocalGroup group_;
  std::vector<std::string> reports_;
  std::string said_;
};

TEST_F(SupervisorTest, AllSucceed) {
  EXPECT_EQ(run([&](uint32_t rank) { return meet(group_, rank, 100); }), 0);
  EXPECT_THAT(reports_, IsEmpty());
}

TEST_F(SupervisorTest, ARankThatIsKilledEndsTheOthers) {
  const int code = run([&](uint32_t rank) {
    if (rank == 1)
      return meet(group_, rank, 10) + ::raise(SIGKILL);
    return meet(group_, rank, kForever);
  });
  EXPECT_EQ(code, 128 + SIGKILL);
  EXPECT_THAT(reports_, ElementsAre(HasSubstr("rank 1 was killed by signal 9 (Killed)")));
  for (const uint32_t rank : {0U, 2U})
    EXPECT_THAT(said_, HasSubstr(fmt::format("rank {}: barrier cannot be completed: rank 1 failed: it was "
                                             "killed by signal 9 (Killed)",
                                             rank)));
}

TEST_F(SupervisorTest, ARankThatIsStoppedEndsTheOthersAndIsKilled) {
  const int code = run([&](uint32_t rank) {
    if (rank == 2)
      ::raise(SIGSTOP);
    return meet(group_, rank, kForever);
  });
  EXPECT_EQ(code, 128 + SIGKILL);
  EXPECT_THAT(reports_, ElementsAre(HasSubstr("rank 2 was stopped")));
  EXPECT_THAT(said_, HasSubstr("rank 0: barrier cannot be completed: rank 2 failed: it was stopped"));
}

TEST_F(SupervisorTest, ARankThatIsContinuedGoesOn) {
  const int code = run([&](uint32_t rank) {
    if (rank == 0) {
      const pid_t self = ::getpid();
      const pid_t helper = ::fork();
      if (helper == 0) {
        waitUntilStopped(self);
        ::kill(self, SIGCONT);
        ::_exit(0);
      }
      ::raise(SIGSTOP);
      ::waitpid(helper, nullptr, 0);
    }
    return meet(group_, rank, 10);
  });
  EXPECT_EQ(code, 0);
}

TEST_F(SupervisorTest, TheFirstFailureIsTheExitCode) {
  const int code = run([&](uint32_t rank) { return rank == 1 ? 2 : meet(group_, rank, kForever); });
  EXPECT_EQ(code, 2);
  EXPECT_THAT(reports_, IsEmpty()) << "the rank has said why";
  EXPECT_THAT(said_, HasSubstr("rank 1 failed: it ended with exit code 2"));
}

TEST_F(SupervisorTest, WrongInputOfOneIsTheExitCodeWhoeverEndsFirst) {
  const int code = run([&](uint32_t rank) {
    if (rank != 1)
      return 1; // because of the failure that rank 1 reported
    waitUntilAlone();
    return 2;
  });
  EXPECT_EQ(code, 2);
}

TEST_F(SupervisorTest, WhoDoesNotEndIsKilled) {
  const auto body = [&](uint32_t rank) { return rank == 0 ? 1 : ::pause(); };
  EXPECT_EQ(run(body, {.others = 0.5}), 1);
}

TEST_F(SupervisorTest, SignalsAreHandedOnOnce) {
  const pid_t parent = ::getpid();
  const int code = run(
      [&](uint32_t rank) {
        catchStopSignals(SecondSignal::kLeftToParent);
        const auto communicator = group_.communicator(rank);
        if (meet(**communicator, 1) != 0)
          return 1;
        if (rank == 0)
          ::kill(parent, SIGTERM);
        while (!stopSignal()) // until it is handed on
          ::usleep(1000);
        if (rank == 0) {
          ::kill(parent, SIGTERM);
          waitUntilTaken(SIGTERM, parent);
        }
        return meet(**communicator, 1) == 0 && std::string_view(stopSignal()) == "SIGTERM" ? 7 : 1;
      },
      {.sameSignal = 1e9});
  EXPECT_EQ(code, 7);
}

TEST_F(SupervisorTest, ASecondSignalEndsAllAtOnce) {
  const pid_t parent = ::getpid();
  const int code = run(
      [&](uint32_t rank) {
        catchStopSignals(SecondSignal::kLeftToParent);
        if (meet(group_, rank, 1) != 0)
          return 1;
        if (rank == 0) {
          ::kill(parent, SIGTERM);
          while (!stopSignal()) // until it is handed on
            ::usleep(1000);
          ::kill(parent, SIGINT);
        }
        for (;;)
          ::pause();
      },
      {.sameSignal = 0});
  EXPECT_EQ(code, 128 + SIGKILL);
}

TEST_F(SupervisorTest, RanksDieWithTheirParent) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    ::close(ends[0]);
    Supervisor supervisor({.count = kRanks,
                           .run =
                               [&](uint32_t rank) {
                                 if (meet(group_, rank, 1) == 0 && rank == 0)
                                   ::kill(::getppid(), SIGKILL);
                                 return ::pause();
                               },
                           .fail = [](uint32_t, std::string_view) {},
                           .report = [](std::string_view) {}});
    (void)supervisor.run();
    ::_exit(0);
  }
  ::close(ends[1]);
  char none = 0;
  EXPECT_EQ(::read(ends[0], &none, 1), 0) << "the end comes when no rank holds the pipe any more";
  ::close(ends[0]);
  EXPECT_EQ(::waitpid(parent, nullptr, 0), parent);
}

} // namespace
} // namespace trainc
