// Which ops fit one iteration space, and how values are placed in it.
#include "lib/Analysis/IterationSpace.h"

#include "dialects/NN/NN.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace trainc;

namespace {

class IterationSpaceTest : public ::testing::Test {
protected:
  IterationSpaceTest() { context.loadDialect<nn::NNDialect, func::FuncDialect>(); }

  /// Infers the space of all ops of @f.
  void infer(const char *text) {
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    body = &(*module->getOps<func::FuncOp>().begin()).front();
    SmallVector<Operation *> ops;
    for (Operation &op : body->without_terminator())
      ops.push_back(&op);
    space = IterationSpace::infer(ops, &why);
  }

  Extent argument(unsigned index) { return space->extent(body->getArgument(index)); }
  Value returned(unsigned index) { return body->getTerminator()->getOperand(index); }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Block *body = nullptr;
  std::optional<IterationSpace> space;
  std::string why;
};

TEST_F(IterationSpaceTest, ElementwiseOpsAreOneFlatRow) {
  infer(R"(func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = nn.exp %x : tensor<4x8xf32>
    return %0 : tensor<4x8xf32> })");
  ASSERT_TRUE(space) << why;
  EXPECT_EQ(space->rows(), 1);
  EXPECT_EQ(space->columns(), 32);
  EXPECT_EQ(argument(0), Extent::Full);
  EXPECT_EQ(space->passes(), 1);
}

TEST_F(IterationSpaceTest, SquareSpaceFollowsTheOpsNotTheShapes) {
  infer(R"(func.func @f(%x: tensor<8x8xf32>, %c: tensor<8xf32>, %r: tensor<8xf32>) -> tensor<8x8xf32> {
    %0 = nn.broadcast %c to [8, 8] : tensor<8xf32>
    %1 = nn.add %x, %0 : tensor<8x8xf32>, tensor<8x8xf32>
    %2 = nn.reshape %r to [8, 1] : tensor<8xf32>
    %3 = nn.broadcast %2 to [8, 8] : tensor<8x1xf32>
    %4 = nn.mul %1, %3 : tensor<8x8xf32>, tensor<8x8xf32>
    return %4 : tensor<8x8xf32> })");
  ASSERT_TRUE(space) << why;
  EXPECT_EQ(argument(0), Extent::Full);
  EXPECT_EQ(argument(1), Extent::PerColumn);
  EXPECT_EQ(argument(2), Extent::PerRow);
}

TEST_F(IterationSpaceTest, ReductionsDeepenPasses) {
  infer(R"(func.func @f(%x: tensor<2x3x100xf32>) -> tensor<2x3x100xf32> {
    %m = nn.reduce max %x over [2] keep : tensor<2x3x100xf32>
    %mb = nn.broadcast %m to [2, 3, 100] : tensor<2x3x1xf32>
    %c = nn.sub %x, %mb : tensor<2x3x100xf32>, tensor<2x3x100xf32>
    %e = nn.exp %c : tensor<2x3x100xf32>
    %s = nn.reduce sum %e over [-1] keep : tensor<2x3x100xf32>
    %sb = nn.broadcast %s to [2, 3, 100] : tensor<2x3x1xf32>
    %o = nn.div %e, %sb : tensor<2x3x100xf32>, tensor<2x3x100xf32>
    return %o : tensor<2x3x100xf32> })");
  ASSERT_TRUE(space) << why;
  EXPECT_EQ(space->rows(), 6);
  EXPECT_EQ(space->columns(), 100);
  EXPECT_EQ(space->passes(), 3);
  EXPECT_EQ(space->depth(returned(0)), 2);
}

TEST_F(IterationSpaceTest, ReductionOverRowsLeavesOnly) {
  infer(R"(func.func @f(%x: tensor<70x100xf32>) -> tensor<100xf32> {
    %s = nn.reduce sum %x over [0] : tensor<70x100xf32>
    return %s : tensor<100xf32> })");
  ASSERT_TRUE(space) << why;
  EXPECT_EQ(space->extent(returned(0)), Extent::PerColumn);
  EXPECT_TRUE(space->isReducedOverTiles(returned(0)));

  infer(R"(func.func @f(%x: tensor<70x100xf32>) -> tensor<100xf32> {
    %s = nn.reduce sum %x over [0] : tensor<70x100xf32>
    %q = nn.square %s : tensor<100xf32>
    return %q : tensor<100xf32> })");
  EXPECT_FALSE(space);
  EXPECT_NE(why.find("complete only after the last row"), std::string::npos) << why;
}

TEST_F(IterationSpaceTest, VeryLongRowIsReducedOverTiles) {
  infer(R"(func.func @f(%x: tensor<1000x1000xf32>) -> tensor<f32> {
    %s = nn.reduce sum %x over [0, 1] : tensor<1000x1000xf32>
    return %s : tensor<f32> })");
  ASSERT_TRUE(space) << why;
  EXPECT_EQ(space->rows(), 1);
  EXPECT_TRUE(space->isReducedOverTiles(returned(0)));
}

TEST_F(IterationSpaceTest, SumOfRowValuesIsScalar) {
  infer(R"(func.func @f(%x: tensor<70x100xf32>) -> tensor<f32> {
    %r = nn.reduce sum %x over [1] : tensor<70x100xf32>
    %e = nn.exp %r : tensor<70xf32>
    %s = nn.reduce sum %e over [0] : tensor<70xf32>
    return %s : tensor<f32> })");
  ASSERT_TRUE(space) << why;
  EXPECT_EQ(space->rows(), 70);
  EXPECT_EQ(space->extent(returned(0)), Extent::Scalar);
}

TEST_F(IterationSpaceTest, PositionsRepeatOverTheBatch) {
  infer(
      R"(func.func @f(%t: tensor<50x96xf32>, %p: tensor<7x96xf32>, %i: tensor<3x7xi32>, %g: tensor<96xf32>) -> tensor<3x7x96xf32> {
    %e = nn.gather %t at %i : tensor<50x96xf32>, tensor<3x7xi32>
    %q = nn.broadcast %p to [3, 7, 96] : tensor<7x96xf32>
    %o = nn.add %e, %q : tensor<3x7x96xf32>, tensor<3x7x96xf32>
    %gb = nn.broadcast %g to [3, 7, 96] : tensor<96xf32>
    %r = nn.mul %o, %gb : tensor<3x7x96xf32>, tensor<3x7x96xf32>
    return %r : tensor<3x7x96xf32> })");
  ASSERT_TRUE(space) << why;
  EXPECT_EQ(space->rows(), 21);
  EXPECT_EQ(argument(0), Extent::Table);
  EXPECT_EQ(argument(1), Extent::PartialRows);
  EXPECT_EQ(argument(2), Extent::PerRow);
  EXPECT_EQ(argument(3), Extent::PerColumn);
  RowMap expected;
  expected.append({1, 7});
  EXPECT_EQ(space->placement(body->getArgument(1)).rows, expected);
}

TEST_F(IterationSpaceTest, MiddleDimensionDoesNotFit) {
  infer(R"(func.func @f(%x: tensor<3x7x96xf32>) -> tensor<3x96xf32> {
    %e = nn.reduce sum %x over [1] : tensor<3x7x96xf32>
    return %e : tensor<3x96xf32> })");
  EXPECT_FALSE(space);
  EXPECT_FALSE(why.empty());
}

TEST_F(IterationSpaceTest, ResultsThatRepeatOverRowsDoNotFit) {
  infer(
      R"(func.func @f(%x: tensor<70x100xf32>, %b: tensor<100xf32>) -> (tensor<70x100xf32>, tensor<100xf32>) {
    %e = nn.exp %b : tensor<100xf32>
    %bb = nn.broadcast %e to [70, 100] : tensor<100xf32>
    %o = nn.add %x, %bb : tensor<70x100xf32>, tensor<70x100xf32>
    return %o, %e : tensor<70x100xf32>, tensor<100xf32> })");
  EXPECT_FALSE(space);
  EXPECT_NE(why.find("once per row"), std::string::npos) << why;
}

TEST(RowMap, SplitsIntoDimensions) {
  RowMap map;
  map.append({4, 6});
  map.append({1, 2}); // not adjacent: rows 0..1 of every 4
  EXPECT_EQ(map.rows(), 12);
  auto pieces = map.split({2, 3, 1, 2});
  ASSERT_TRUE(pieces);
  EXPECT_EQ((*pieces)[0], (RowMap::Term{12, 2}));
  EXPECT_EQ((*pieces)[1], (RowMap::Term{4, 3}));
  EXPECT_EQ((*pieces)[3], (RowMap::Term{1, 2}));
  EXPECT_FALSE(map.split({4, 3}));
}

TEST(RowMap, JoinsAdjacentTerms) {
  RowMap map;
  map.append({6, 5});
  map.append({2, 3});
  EXPECT_EQ(map.terms.size(), 1u);
  EXPECT_EQ(map.terms[0], (RowMap::Term{2, 15}));
}

} // namespace
