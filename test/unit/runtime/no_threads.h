// A system that starts no more threads.
#pragma once

#include <cstddef>
#include <gtest/gtest.h>
#include <pthread.h>

namespace trainc::test {

/// While this lives, a thread would get a stack larger than the address space, so none starts.
class NoThreads {
public:
  NoThreads() {
    pthread_attr_t huge;
    EXPECT_EQ(pthread_getattr_default_np(&before_), 0);
    EXPECT_EQ(pthread_attr_init(&huge), 0);
    EXPECT_EQ(pthread_attr_setstacksize(&huge, size_t{1} << 47), 0);
    EXPECT_EQ(pthread_setattr_default_np(&huge), 0);
    pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    EXPECT_EQ(pthread_setattr_default_np(&before_), 0);
    pthread_attr_destroy(&before_);
  }
  NoThreads(const NoThreads &) = delete;
  NoThreads &operator=(const NoThreads &) = delete;

private:
  pthread_attr_t before_{};
};

} // namespace trainc::test
