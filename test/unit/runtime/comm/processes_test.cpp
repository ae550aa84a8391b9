// Ranks as processes. A child ends by _exit with a code, and prints its failures on standard error.
#include "test/unit/runtime/comm/support.h"

#include <csignal>
#include <cstdio>
#include <functional>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace trainc {
namespace {

constexpr uint64_t kElements = 100003;

LocalGroup makeGroup(uint32_t ranks, double timeoutSeconds) {
  auto group =
      LocalGroup::create(Mesh({{"shard", ranks}}), uint64_t{1} << 20, {.timeoutSeconds = timeoutSeconds});
  EXPECT_TRUE(group.ok()) << group.status().message();
  return *group;
}

/// One rank, with values in its memory.
class RankWithValues {
public:
  RankWithValues(const LocalGroup &group, uint32_t rank)
      : communicator_(std::move(*group.communicator(rank))) {
    values_ = communicator_->allocate("values", kElements * sizeof(float))->as<float>();
    for (uint64_t i = 0; i < kElements; ++i)
      values_[i] = test::value(rank, i);
  }

  Status allReduce() {
    const std::span<float> values(values_, kElements);
    const CollectiveRange range = test::rangeOf(values, values);
    return communicator_->wait(
        communicator_->start({.kind = MeetingKind::kAllReduce, .ranges = std::span(&range, 1)}));
  }

private:
  std::unique_ptr<Communicator> communicator_;
  float *values_;
};

/// Starts a process that runs `body` and succeeds when it returns true. It does not outlive this one.
pid_t fork(const std::function<bool()> &body) {
  const pid_t child = ::fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    _exit(body() ? 0 : 1);
  }
  return child;
}

int statusOf(pid_t child) {
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

void expectSuccess(pid_t child) {
  const int status = statusOf(child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
}

/// Whether the status is that of an all-reduce that failed for the reason given.
bool isFailure(const Status &status, uint32_t rank, const std::string &reason) {
  const std::string expected =
      fmt::format("rank {}: all-reduce of {} f32 cannot be completed: {}", rank, kElements, reason);
  if (status.message() != expected)
    (void)std::fprintf(stderr, "rank %u: '%s'\n", rank, status.message().c_str());
  return status.message() == expected;
}

TEST(CommProcesses, AProcessThatIsKilledEndsTheOthers) {
  const LocalGroup group = makeGroup(3, test::kNever);
  std::vector<pid_t> survivors;
  for (const uint32_t number : {0U, 2U})
    survivors.push_back(fork([&] {
      RankWithValues rank(group, number);
      return rank.allReduce().ok() &&
             isFailure(rank.allReduce(), number, "rank 1 failed: killed by signal 9");
    }));
  const pid_t victim = fork([&] {
    RankWithValues rank(group, 1);
    return rank.allReduce().ok() && raise(SIGKILL) == 0;
  });
  const int status = statusOf(victim);
  ASSERT_TRUE(WIFSIGNALED(status)) << "status " << status;
  group.fail(1, fmt::format("killed by signal {}", WTERMSIG(status)));
  for (const pid_t child : survivors)
    expectSuccess(child);
}

TEST(CommProcesses, AProcessThatIsStoppedIsNamed) {
  const LocalGroup group = makeGroup(2, 0.5);
  const pid_t stopped = fork([&] {
    RankWithValues rank(group, 1);
    return raise(SIGSTOP) == 0;
  });
  const pid_t survivor = fork([&] {
    return isFailure(RankWithValues(group, 0).allReduce(), 0,
                     "rank 1 failed: it did not arrive within 0.5 s: it has died, hangs or is stopped");
  });
  expectSuccess(survivor);
  EXPECT_EQ(kill(stopped, SIGKILL), 0);
  EXPECT_TRUE(WIFSIGNALED(statusOf(stopped)));
}

} // namespace
} // namespace trainc
