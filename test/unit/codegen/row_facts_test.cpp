// Properties of a row kernel derived from its ops and patterns.
#include "lib/Codegen/RowFacts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

namespace {

class RowFactsTest : public ::testing::Test {
protected:
  RowFactsTest() { context.loadDialect<nn::NNDialect, func::FuncDialect>(); }

  /// The facts of the one kernel of @f.
  RowFacts factsOf(const char *text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return RowFacts(*(*module->getOps<func::FuncOp>().begin()).getOps<nn::KernelOp>().begin());
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(RowFactsTest, ReductionsDeepenPasses) {
  RowFacts facts = factsOf(R"(func.func @f(%x: tensor<2x3x100xf32>) {
    %0 = nn.kernel 6 x 100 (%a = %x : tensor<2x3x100xf32>) -> (tensor<2x3x100xf32>) {
      %m = nn.reduce max %a over [2] keep {nn.pattern = #nn.pattern<6, *100>} : tensor<2x3x100xf32>
      %mb = nn.broadcast %m to [2, 3, 100] : tensor<2x3x1xf32>
      %c = nn.sub %a, %mb : tensor<2x3x100xf32>, tensor<2x3x100xf32>
      %e = nn.exp %c : tensor<2x3x100xf32>
      %s = nn.reduce sum %e over [-1] keep {nn.pattern = #nn.pattern<6, *100>} : tensor<2x3x100xf32>
      %sb = nn.broadcast %s to [2, 3, 100] : tensor<2x3x1xf32>
      %o = nn.div %e, %sb : tensor<2x3x100xf32>, tensor<2x3x100xf32>
      nn.yield %o : tensor<2x3x100xf32>
    }
    return })");
  EXPECT_EQ(facts.passes(), 3);
  const Value result = facts.yield().getValues()[0];
  EXPECT_EQ(facts.depth(result), 2);
  EXPECT_TRUE(facts.results(0).empty());
  EXPECT_EQ(facts.results(2), SmallVector<Value>{result});
  for (int64_t pass : {0, 1})
    EXPECT_EQ(facts.rowReductions(pass).size(), 1u);
  EXPECT_TRUE(facts.rowReductions(2).empty());
}

TEST_F(RowFactsTest, SumsOverRowsAreKnownByTheirPattern) {
  RowFacts facts = factsOf(R"(func.func @f(%x: tensor<70x100xf32>) {
    %0:3 = nn.kernel 70 x 100 (%a = %x : tensor<70x100xf32>) -> (tensor<100xf32>, tensor<70xf32>, tensor<f32>) {
      %s = nn.reduce sum %a over [0] {nn.pattern = #nn.pattern<*70, 100>} : tensor<70x100xf32>
      %r = nn.reduce sum %a over [1] {nn.pattern = #nn.pattern<70, *100>} : tensor<70x100xf32>
      %t = nn.reduce sum %r over [0] {nn.pattern = #nn.pattern<*7000>} : tensor<70xf32>
      nn.yield %s, %r, %t : tensor<100xf32>, tensor<70xf32>, tensor<f32>
    }
    return })");
  const auto results = facts.yield().getValues();
  EXPECT_TRUE(facts.isReducedOverRows(results[0]));
  EXPECT_FALSE(facts.isReducedOverRows(results[1]));
  EXPECT_TRUE(facts.isReducedOverRows(results[2]));
  EXPECT_TRUE(facts.isScalar(results[2]));
  EXPECT_TRUE(facts.hasEveryRow(results[1]));
  // Both reductions along x go over the argument.
  EXPECT_EQ(facts.reduced(0).size(), 2u);
}

TEST_F(RowFactsTest, PositionsRepeatOverTheBatch) {
  RowFacts facts =
      factsOf(R"(func.func @f(%x: tensor<3x7x96xf32>, %p: tensor<7x96xf32>, %h: tensor<3x96xf32>) {
    %0 = nn.kernel 21 x 96 (%a = %x : tensor<3x7x96xf32>, %b = %p : tensor<7x96xf32> at <*3, 672>,
                            %c = %h : tensor<3x96xf32> at <3, *7, 96>) -> (tensor<3x7x96xf32>) {
      nn.yield %a : tensor<3x7x96xf32>
    }
    return })");
  const auto arguments = facts.kernel.getBody().getArguments();
  EXPECT_TRUE(facts.hasEveryRow(arguments[0]));
  ASSERT_EQ(facts.rowTerms(arguments[1]).size(), 1u);
  EXPECT_EQ(facts.rowTerms(arguments[1])[0].divisor, 1);
  EXPECT_EQ(facts.rowTerms(arguments[1])[0].size, 7);
  ASSERT_EQ(facts.rowTerms(arguments[2]).size(), 1u);
  EXPECT_EQ(facts.rowTerms(arguments[2])[0].divisor, 7);
  EXPECT_EQ(facts.rowTerms(arguments[2])[0].size, 3);
  EXPECT_TRUE(facts.isAlongColumns(arguments[2]));
}

} // namespace
