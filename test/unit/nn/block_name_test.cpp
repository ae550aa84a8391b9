#include "dialects/NN/NN.h"

#include "mlir/IR/Builders.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace trainc {
namespace {

std::string plainNameOf(StringRef name) {
  MLIRContext context;
  context.loadDialect<nn::NNDialect>();
  OpBuilder builder(&context);
  OwningOpRef<nn::BlockOp> block =
      nn::BlockOp::create(builder, builder.getUnknownLoc(), name, builder.getTypeArrayAttr({}));
  return block->getPlainName().str();
}

TEST(BlockName, IsPlainWithoutValuesOfConstants) {
  EXPECT_EQ(plainNameOf("layer"), "layer");
  EXPECT_EQ(plainNameOf("layer<window = 512>"), "layer");
  EXPECT_EQ(plainNameOf("layer<window = 512, name = \"a<b\">"), "layer");
}

TEST(BlockName, OtherBracketsBelongToTheName) {
  EXPECT_EQ(plainNameOf("layer<512>"), "layer<512>");
  EXPECT_EQ(plainNameOf("layer<window = 512"), "layer<window = 512");
  EXPECT_EQ(plainNameOf("layer>"), "layer>");
  EXPECT_EQ(plainNameOf("<>"), "<>");
}

} // namespace
} // namespace trainc
