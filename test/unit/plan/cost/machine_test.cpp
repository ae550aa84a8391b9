// Time of an instruction's work on a machine.
#include "plan/cost/machine.h"

#include <gtest/gtest.h>

namespace trainc {
namespace {

Machine roundMachine() {
  Machine machine;
  machine.flopsPerSecond = 100;
  machine.bytesPerSecond = 10;
  return machine;
}

TEST(CostOf, ProductsHideTheirBytesUnlessTheyPackFactors) {
  Machine machine = roundMachine();
  const Work product{.worker = Worker::Products, .flops = 300, .bytes = 20};
  EXPECT_DOUBLE_EQ(costOf(product, machine).seconds(), 3);
  machine.packsFactors = true;
  EXPECT_DOUBLE_EQ(costOf(product, machine).seconds(), 3 + 2);
  EXPECT_EQ(costOf(product, machine).boundBy(), "work");
  const Work kernel{.flops = 300, .bytes = 20};
  EXPECT_DOUBLE_EQ(costOf(kernel, machine).seconds(), 3) << "other kernels compute while bytes come";
}

TEST(CostOf, ArithmeticHasARateOfItsOwnIfTheMachineHas) {
  Machine machine = roundMachine();
  const Work kernel{.arithmetic = 300, .bytes = 20};
  EXPECT_DOUBLE_EQ(costOf(kernel, machine).seconds(), 3);
  machine.arithmeticPerSecond = 50;
  EXPECT_DOUBLE_EQ(costOf(kernel, machine).seconds(), 6);
  EXPECT_DOUBLE_EQ(costOf(kernel, dividedAmong(machine, 2)).seconds(), 12);
}

TEST(CostOf, ProductsOfF16HaveARateOfTheirOwnIfTheMachineHas) {
  Machine machine = roundMachine();
  machine.bf16FlopsPerSecond = 400;
  const Work product{.worker = Worker::Products, .factor = Factor::F16, .flops = 1200};
  EXPECT_DOUBLE_EQ(costOf(product, machine).seconds(), 3);
  machine.f16FlopsPerSecond = 200;
  EXPECT_DOUBLE_EQ(costOf(product, machine).seconds(), 6);
  EXPECT_DOUBLE_EQ(
      costOf({.worker = Worker::Products, .factor = Factor::Bf16, .flops = 1200}, machine).seconds(), 3);
}

TEST(CostOf, TransfersOfADiskTakeItsAccessBesidesTheirBytes) {
  Machine machine = roundMachine();
  machine.launchSeconds = 1;
  machine.diskReadBytesPerSecond = machine.diskWriteBytesPerSecond = 5;
  machine.diskAccessSeconds = 0.5;
  EXPECT_DOUBLE_EQ(costOf({.worker = Worker::DiskRead, .bytes = 20}, machine).seconds(), 4.5);
  EXPECT_DOUBLE_EQ(costOf({.worker = Worker::DiskWrite, .bytes = 20}, machine).seconds(), 4.5);
  EXPECT_DOUBLE_EQ(costOf({.bytes = 20}, machine).seconds(), 3);
}

} // namespace
} // namespace trainc
