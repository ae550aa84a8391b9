#include "runtime/device/cpu/cpu_share.h"

#include "base/cpu_quota.h"
#include "test/unit/runtime/state/support.h"

#include <gmock/gmock.h>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

namespace trainc::test {
namespace {

using testing::ElementsAre;

/// A synthetic machine: the test writes the files with a container's limits.
class Quota : public testing::Test {
protected:
  void file(const std::string &path, const std::string &text) {
    std::filesystem::create_directories((folder_ / path).parent_path());
    writeFile(folder_ / path, text);
  }
  std::optional<double> quota() { return cpuQuota(folder_ / ""); }

  TempFolder folder_;
};

TEST_F(Quota, NoGroupsLimitNothing) { EXPECT_EQ(quota(), std::nullopt); }

TEST_F(Quota, TheGroupsOwnCounts) {
  file("proc/self/cgroup", "0::/docker/abc\n");
  file("sys/fs/cgroup/docker/abc/cpu.max", "150000 100000\n");
  EXPECT_EQ(quota(), 1.5);
}

TEST_F(Quota, TheLeastOfThoseAroundCounts) {
  file("proc/self/cgroup", "0::/a/b/c\n");
  file("sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
  file("sys/fs/cgroup/a/b/cpu.max", "400000 100000\n");
  file("sys/fs/cgroup/a/cpu.max", "800000 100000\n");
  EXPECT_EQ(quota(), 4);
}

TEST_F(Quota, AContainersRootCounts) {
  file("proc/self/cgroup", "0::/\n");
  file("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(quota(), 0.5);
}

TEST_F(Quota, TheFirstVersionCounts) {
  file("proc/self/cgroup", "5:memory:/x\n4:cpu,cpuacct:/x\n");
  file("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "300000\n");
  file("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 3);
  file("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST_F(Quota, WhatIsNoNumberLimitsNothing) {
  file("proc/self/cgroup", "nonsense\n0::/a\n");
  file("sys/fs/cgroup/a/cpu.max", "many 100000\n");
  file("sys/fs/cgroup/cpu.max", "100000 0\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST(CpuShares, AreWholeMemories) {
  EXPECT_THAT(CpuTopology("numa:2 core:2 pu:2").shares(2),
              ElementsAre(CpuSet{0, 1, 2, 3}, CpuSet{4, 5, 6, 7}));
}

TEST(CpuShares, AreApartAndOfAboutOneSize) {
  const CpuTopology topology("numa:2 core:6 pu:2");
  for (uint32_t count = 1; count <= 24; ++count) {
    const std::vector<CpuSet> shares = topology.shares(count);
    ASSERT_EQ(shares.size(), count);
    std::set<unsigned> seen;
    size_t total = 0, minimum = 24, maximum = 0;
    for (const CpuSet &share : shares) {
      seen.insert(share.begin(), share.end());
      total += share.size();
      minimum = std::min(minimum, share.size());
      maximum = std::max(maximum, share.size());
    }
    EXPECT_EQ(seen.size(), total) << "no CPU is in two of " << count;
    EXPECT_GE(minimum, 1U);
    EXPECT_LE(maximum, 2 * minimum + 2) << "of " << count;
  }
}

TEST(CpuShares, AreNotOfFewerCpusThanRanks) { EXPECT_TRUE(CpuTopology("core:2 pu:1").shares(3).empty()); }

/// Runs `body` in a child process, because CPU binding is permanent.
int inFork(int (*body)()) {
  const pid_t child = fork();
  if (child == 0)
    _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST(CpuShares, ARankIsBoundToItsOwn) {
  const size_t cpus = CpuTopology().own().size();
  if (cpus < 2)
    GTEST_SKIP() << "needs two CPUs";
  EXPECT_EQ(inFork([] {
              const CpuSet before = CpuTopology().own();
              const std::vector<CpuSet> shares = CpuTopology().shares(2);
              const unsigned threads = takeCpuShare({.index = 1, .count = 2});
              const bool bound = CpuTopology().own() == shares[1];
              return bound && threads >= 1 && threads <= shares[1].size() && shares[1].size() < before.size()
                         ? 0
                         : 1;
            }),
            0);
  EXPECT_EQ(inFork([] {
              const CpuTopology topology;
              topology.bind({topology.own().front()}); // as a launcher does
              (void)takeCpuShare({.index = 1, .count = 2, .forked = false});
              return CpuTopology().own() == CpuSet{topology.own().front()} ? 0 : 1;
            }),
            0);
}

} // namespace
} // namespace trainc::test
