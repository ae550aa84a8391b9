// Collectives beside computation, on a link that then keeps half of its rate.
#include "lib/Analysis/CostModel.h"

#include <gtest/gtest.h>

namespace trainc {
namespace {

TEST(LinkTimeline, ComputationHidesWhatItLastsFor) {
  LinkTimeline link(0.5);
  link.start(0, 3);
  link.compute(4); // two of the three
  EXPECT_DOUBLE_EQ(link.wait(0), 1);
  EXPECT_DOUBLE_EQ(link.busySeconds(), 5);
}

TEST(LinkTimeline, AFreeLinkIsNotBusy) {
  LinkTimeline link(0.5);
  link.compute(10);
  EXPECT_DOUBLE_EQ(link.busySeconds(), 0);
  link.start(0, 1);
  link.compute(10);
  EXPECT_DOUBLE_EQ(link.wait(0), 0);
  EXPECT_DOUBLE_EQ(link.busySeconds(), 2);
}

TEST(LinkTimeline, CollectivesTakeTurns) {
  LinkTimeline link(0.5);
  link.start(7, 1);
  link.start(2, 3);
  link.start(5, 1);
  link.compute(4); // the first, and one of the second
  EXPECT_DOUBLE_EQ(link.wait(2), 2);
  EXPECT_DOUBLE_EQ(link.wait(7), 0);
  EXPECT_DOUBLE_EQ(link.wait(5), 1);
  EXPECT_DOUBLE_EQ(link.busySeconds(), 7);
}

TEST(LinkTimeline, ASlotIsUsedAgain) {
  LinkTimeline link(1);
  link.start(0, 1);
  EXPECT_DOUBLE_EQ(link.wait(0), 1);
  EXPECT_DOUBLE_EQ(link.wait(0), 0);
  link.start(0, 2);
  EXPECT_DOUBLE_EQ(link.wait(0), 2);
}

} // namespace
} // namespace trainc
