// Ranks as threads and as processes.
#include "runtime/comm/local/local_group.h"
#include "test/unit/runtime/comm/engine.h"
#include "test/unit/runtime/comm/support.h"

#include <csignal>
#include <cstdio>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace trainc::test {

namespace {

using Body = std::function<void(Rank &)>;

void runRank(const LocalGroup &group, Grid grid, uint32_t number, const Body &body) {
  const auto communicator = group.communicator(number);
  ASSERT_TRUE(communicator.ok()) << communicator.status().message();
  Rank rank(**communicator, grid);
  body(rank);
  EXPECT_TRUE(rank->barrier().ok());
}

void asThreads(const LocalGroup &group, Grid grid, const Body &body) {
  std::vector<std::thread> threads;
  for (uint32_t number = 0; number < grid.ranks; ++number)
    threads.emplace_back([&, number] { runRank(group, grid, number, body); });
  for (std::thread &thread : threads)
    thread.join();
}

/// A child prints its failed expectations itself.
void asProcesses(const LocalGroup &group, Grid grid, const Body &body) {
  std::vector<pid_t> children;
  for (uint32_t number = 0; number < grid.ranks; ++number) {
    children.push_back(fork());
    if (children.back() != 0)
      continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    runRank(group, grid, number, body);
    (void)std::fflush(stdout);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  for (const pid_t child : children) {
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "of a rank's process";
  }
}

} // namespace

std::vector<Job> jobs() {
  std::vector<Job> all;
  for (const Grid grid :
       {Grid{1, 1}, Grid{2, 1}, Grid{3, 3}, Grid{4, 2}, Grid{5, 1}, Grid{6, 2}, Grid{8, 4}, Grid{12, 4}})
    all.push_back({"threads", grid});
  for (const Grid grid : {Grid{1, 1}, Grid{2, 2}, Grid{3, 1}, Grid{4, 2}, Grid{8, 4}})
    all.push_back({"processes", grid});
  return all;
}

void onRanks(const Job &job, uint64_t bytes, const Body &body) {
  const auto group = LocalGroup::create(job.grid.mesh(), bytes, {.timeoutSeconds = kNever});
  ASSERT_TRUE(group.ok()) << group.status().message();
  (job.engine == "threads" ? asThreads : asProcesses)(*group, job.grid, body);
}

} // namespace trainc::test
