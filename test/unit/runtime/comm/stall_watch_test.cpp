#include "runtime/comm/stall_watch.h"

#include <gtest/gtest.h>

namespace trainc {
namespace {

TEST(StallWatch, CountsTheTimeWithoutProgress) {
  StallWatch watch(2, 0.25);
  watch.begin();
  EXPECT_FALSE(watch.stalled(1, 0, 0.1));
  EXPECT_FALSE(watch.stalled(1, 0, 0.1));
  EXPECT_FALSE(watch.stalled(0, 0, 0.1)) << "ranks are apart";
  EXPECT_TRUE(watch.stalled(1, 0, 0.1));
}

TEST(StallWatch, ProgressGivesTheWholeTimeoutAgain) {
  StallWatch watch(1, 0.25);
  watch.begin();
  for (uint32_t progress = 0; progress < 100; ++progress) {
    EXPECT_FALSE(watch.stalled(0, progress, 0.1));
    EXPECT_FALSE(watch.stalled(0, progress, 0.1));
  }
  EXPECT_FALSE(watch.stalled(0, 99, 0.1));
  EXPECT_TRUE(watch.stalled(0, 99, 0.1));
}

TEST(StallWatch, SoDoesANewWait) {
  StallWatch watch(1, 0.25);
  for (int wait = 0; wait < 3; ++wait) {
    watch.begin();
    EXPECT_FALSE(watch.stalled(0, 7, 0.1));
    EXPECT_FALSE(watch.stalled(0, 7, 0.1));
  }
}

TEST(StallWatch, AJobThatWasStoppedAsAWholeHasNotHung) {
  StallWatch watch(1, 0.25);
  watch.begin();
  EXPECT_FALSE(watch.stalled(0, 0, 0.1));
  EXPECT_FALSE(watch.stalled(0, 0, 3600)) << "the one who waits slept as long";
  EXPECT_TRUE(watch.stalled(0, 0, 0.1));
}

} // namespace
} // namespace trainc
