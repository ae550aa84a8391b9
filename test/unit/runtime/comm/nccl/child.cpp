#include "test/unit/runtime/comm/nccl/child.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace trainc::test {

void inChild(const Variables &variables, const std::function<void()> &body) {
  (void)std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (const auto &[name, value] : variables)
      setenv(name.c_str(), value.c_str(), 1);
    body();
    endAsChild();
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "of the child";
}

void endAsChild() {
  (void)std::fflush(stdout);
  _exit(testing::Test::HasFailure() ? 1 : 0);
}

} // namespace trainc::test
