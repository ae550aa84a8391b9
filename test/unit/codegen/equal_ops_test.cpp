// Ops that share kernels.
#include "lib/Codegen/EqualOps.h"

#include "dialects/NN/NN.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace trainc;
using codegen::EqualOps;

namespace {

/// Compares the first ops of two functions of %a, %b: tensor<4x8xf32> and %c: tensor<8x4xf32>.
bool areEqual(const std::string &first, const std::string &second) {
  MLIRContext context;
  context.loadDialect<nn::NNDialect, func::FuncDialect>();
  const std::string begin = "(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %c: tensor<8x4xf32>) { ",
                    end = "\n return }\n";
  auto module = parseSourceString<ModuleOp>(
      "func.func @f" + begin + first + end + "func.func @g" + begin + second + end, &context);
  EXPECT_TRUE(module) << first << "\n" << second;
  Operation *ops[] = {&module->lookupSymbol<func::FuncOp>("f").front().front(),
                      &module->lookupSymbol<func::FuncOp>("g").front().front()};
  bool equal = EqualOps::isEqual(ops[0], ops[1]);
  EXPECT_EQ(EqualOps::isEqual(ops[1], ops[0]), equal);
  if (equal) {
    EXPECT_EQ(EqualOps::getHashValue(ops[0]), EqualOps::getHashValue(ops[1]));
  }
  return equal;
}

std::string kernel(const std::string &operand, const std::string &body, const char *rows = "1 x 32") {
  return std::string("%k = nn.kernel ") + rows + " (%x = " + operand + ") -> (tensor<4x8xf32>) {\n" + body +
         "\nnn.yield %y : tensor<4x8xf32> }";
}

TEST(EqualOps, DifferInOperandsAndLocations) {
  const char *add = "%y = nn.add %a, %b : tensor<4x8xf32>, tensor<4x8xf32>";
  EXPECT_TRUE(areEqual(add, "%y = nn.add %b, %a : tensor<4x8xf32>, tensor<4x8xf32> loc(\"x\")"));
  EXPECT_FALSE(areEqual(add, "%y = nn.add %a, %a : tensor<4x8xf32>, tensor<4x8xf32>"));
  EXPECT_FALSE(areEqual(add, "%y = nn.sub %a, %b : tensor<4x8xf32>, tensor<4x8xf32>"));
}

TEST(EqualOps, HaveEqualTypesAndSettings) {
  EXPECT_TRUE(areEqual("%y = nn.exp %a : tensor<4x8xf32>", "%y = nn.exp %b : tensor<4x8xf32>"));
  EXPECT_FALSE(areEqual("%y = nn.exp %a : tensor<4x8xf32>", "%y = nn.exp %c : tensor<8x4xf32>"));
  EXPECT_FALSE(areEqual("%y = nn.reduce sum %a over [0] : tensor<4x8xf32>",
                        "%y = nn.reduce max %a over [0] : tensor<4x8xf32>"));
}

TEST(EqualOps, HaveEqualRegions) {
  const std::string a = "%a : tensor<4x8xf32>", b = "%b : tensor<4x8xf32>";
  const std::string exp = "%y = nn.exp %x : tensor<4x8xf32>";
  EXPECT_TRUE(areEqual(kernel(a, exp), kernel(b, exp)));
  EXPECT_FALSE(areEqual(kernel(a, exp), kernel(a, "%y = nn.neg %x : tensor<4x8xf32>")));
  EXPECT_FALSE(areEqual(kernel(a, exp), kernel(a, exp, "4 x 8")));
  const std::string square = "%e = nn.exp %x : tensor<4x8xf32>\n%y = nn.mul %e, ";
  EXPECT_FALSE(areEqual(kernel(a, square + "%e : tensor<4x8xf32>, tensor<4x8xf32>"),
                        kernel(a, square + "%x : tensor<4x8xf32>, tensor<4x8xf32>")));
}

} // namespace
