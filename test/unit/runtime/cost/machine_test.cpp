// What an instruction's work takes on a machine.
#include "runtime/cost/machine.h"

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

} // namespace
} // namespace trainc
