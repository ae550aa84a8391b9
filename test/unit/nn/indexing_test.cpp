// How the dimensions of operands and results correspond.
#include "dialects/NN/NN.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gmock/gmock.h>

using namespace mlir;
using namespace trainc;
using testing::ElementsAre;

namespace {

struct Rule {
  std::vector<std::vector<int>> operands, results;
};

std::vector<std::vector<int>> toVectors(llvm::ArrayRef<llvm::SmallVector<int>> labels) {
  std::vector<std::vector<int>> vectors;
  for (llvm::ArrayRef<int> list : labels)
    vectors.emplace_back(list.begin(), list.end());
  return vectors;
}

/// The rule of the last op before the return of a function with `arguments`.
Rule ruleOf(const std::string &arguments, const std::string &ops) {
  MLIRContext context;
  context.loadDialect<nn::NNDialect, func::FuncDialect>();
  auto module =
      parseSourceString<ModuleOp>("func.func @f(" + arguments + ") {\n" + ops + "\nreturn\n}", &context);
  if (!module)
    return {};
  Operation *last =
      (*module->getOps<func::FuncOp>().begin()).getBody().front().getTerminator()->getPrevNode();
  IndexingRule rule = cast<IndexingOpInterface>(last).getIndexingRule();
  return {toVectors(rule.operands), toVectors(rule.results)};
}

std::vector<int> labels(std::initializer_list<int> list) { return list; }

} // namespace

TEST(IndexingRule, ElementwiseKeepsAllDimensions) {
  Rule rule = ruleOf("%x: tensor<2x3xf32>", "%0 = nn.add %x, %x : tensor<2x3xf32>, tensor<2x3xf32>");
  EXPECT_THAT(rule.operands, ElementsAre(labels({0, 1}), labels({0, 1})));
  EXPECT_THAT(rule.results, ElementsAre(labels({0, 1})));
}

TEST(IndexingRule, MatmulSumsOverItsInnerDimension) {
  Rule rule = ruleOf("%x: tensor<2x5x3xf32>, %w: tensor<4x3xf32>",
                     "%0 = nn.matmul %x, %w transposed : tensor<2x5x3xf32>, tensor<4x3xf32>");
  EXPECT_THAT(rule.operands, ElementsAre(labels({0, 1, 2}), labels({3, 2})));
  EXPECT_THAT(rule.results, ElementsAre(labels({0, 1, 3})));
}

TEST(IndexingRule, MatmulReducesItsBatch) {
  Rule rule = ruleOf("%x: tensor<2x5x3xf32>, %g: tensor<2x5x4xf32>",
                     "%0 = nn.matmul %x transposed, %g reduce_batch : tensor<2x5x3xf32>, tensor<2x5x4xf32>");
  EXPECT_THAT(rule.operands, ElementsAre(labels({0, 2, 1}), labels({0, 2, 3})));
  EXPECT_THAT(rule.results, ElementsAre(labels({1, 3})));
}

TEST(IndexingRule, AccumulatingMatmulKeepsItsSumWhole) {
  Rule rule =
      ruleOf("%x: tensor<5x3xf32>, %w: tensor<3x4xf32>, %c: tensor<5x4xf32>",
             "%0 = nn.matmul %x, %w accumulate %c : tensor<5x4xf32> : tensor<5x3xf32>, tensor<3x4xf32>");
  EXPECT_THAT(rule.operands, ElementsAre(labels({0, -1}), labels({-1, 2}), labels({0, 2})));
  EXPECT_THAT(rule.results, ElementsAre(labels({0, 2})));
}

TEST(IndexingRule, SumsMayBeSplitMaximaNot) {
  Rule sum = ruleOf("%x: tensor<2x3xf32>", "%0 = nn.reduce sum %x over [-1] keep : tensor<2x3xf32>");
  EXPECT_THAT(sum.operands, ElementsAre(labels({0, 1})));
  EXPECT_THAT(sum.results, ElementsAre(labels({0, -1})));
  Rule max = ruleOf("%x: tensor<2x3xf32>", "%0 = nn.reduce max %x over [0] : tensor<2x3xf32>");
  EXPECT_THAT(max.operands, ElementsAre(labels({-1, 1})));
  EXPECT_THAT(max.results, ElementsAre(labels({1})));
}

TEST(IndexingRule, BroadcastRepeatsUnlabelledDimensions) {
  Rule rule = ruleOf("%x: tensor<3x1xf32>", "%0 = nn.broadcast %x to [2, 3, 4] : tensor<3x1xf32>");
  EXPECT_THAT(rule.operands, ElementsAre(labels({1, -1})));
  EXPECT_THAT(rule.results, ElementsAre(labels({0, 1, 2})));
}

TEST(IndexingRule, ReshapeRelatesTheFirstDimensionOfEachGroup) {
  Rule rule = ruleOf("%x: tensor<2x3x4xf32>", "%0 = nn.reshape %x to [6, 2, 2] : tensor<2x3x4xf32>");
  EXPECT_THAT(rule.operands, ElementsAre(labels({0, -1, 1})));
  EXPECT_THAT(rule.results, ElementsAre(labels({0, 1, -1})));
}

TEST(IndexingRule, ReshapeIgnoresDimensionsOfSizeOne) {
  Rule rule = ruleOf("%x: tensor<8x1x4xf32>", "%0 = nn.reshape %x to [1, 8, 4, 1] : tensor<8x1x4xf32>");
  EXPECT_THAT(rule.operands, ElementsAre(labels({0, -1, 1})));
  EXPECT_THAT(rule.results, ElementsAre(labels({-1, 0, 1, -1})));
}

TEST(IndexingRule, TransposePermutesAndMovesKeepTheOthers) {
  Rule transpose = ruleOf("%x: tensor<2x3x4xf32>", "%0 = nn.transpose %x by [2, 0, 1] : tensor<2x3x4xf32>");
  EXPECT_THAT(transpose.results, ElementsAre(labels({2, 0, 1})));
  Rule pad = ruleOf("%x: tensor<2x3xf32>", "%0 = nn.pad %x dim -1 low 1 high 0 : tensor<2x3xf32>");
  EXPECT_THAT(pad.operands, ElementsAre(labels({0, -1})));
  EXPECT_THAT(pad.results, ElementsAre(labels({0, -1})));
}

TEST(IndexingRule, LookupsKeepTheTableWhole) {
  Rule gather = ruleOf("%t: tensor<10x4xf32>, %i: tensor<2x3xi32>",
                       "%0 = nn.gather %t at %i : tensor<10x4xf32>, tensor<2x3xi32>");
  EXPECT_THAT(gather.operands, ElementsAre(labels({-1, 2}), labels({0, 1})));
  EXPECT_THAT(gather.results, ElementsAre(labels({0, 1, 2})));
  // Ids may be split, as partial sums, where the table starts from zeros.
  const std::string add =
      "%1 = nn.scatter_add %u into %t at %i : tensor<3x4xf32>, tensor<10x4xf32>, tensor<3xi32>";
  Rule onto = ruleOf("%t: tensor<10x4xf32>, %i: tensor<3xi32>, %u: tensor<3x4xf32>", add);
  EXPECT_THAT(onto.operands, ElementsAre(labels({-1, 1}), labels({-1}), labels({-1, 1})));
  Rule fresh =
      ruleOf("%i: tensor<3xi32>, %u: tensor<3x4xf32>", "%t = nn.constant 0 : tensor<10x4xf32>\n" + add);
  EXPECT_THAT(fresh.operands, ElementsAre(labels({-1, 1}), labels({0}), labels({0, 1})));
}
