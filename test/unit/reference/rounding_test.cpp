// Intermediate numbers can be perturbed, to measure the effect of their rounding.
#include "lib/Reference/Interpreter.h"

#include "dialects/NN/NN.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <gtest/gtest.h>

namespace trainc::reference {
namespace {

constexpr const char *kLoss = R"(
func.func @f(%logits: tensor<1x2xf32>, %labels: tensor<1xi32>) {
  %nll, %lse = nn.cross_entropy %logits, %labels : tensor<1x2xf32>, tensor<1xi32>
  func.return
}
)";

/// The loss of a target that is all but certain is a small difference of large numbers.
TEST(Rounding, OfTheLogSumExpChangesASmallLossByMuch) {
  mlir::MLIRContext context;
  context.loadDialect<nn::NNDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kLoss, &context);
  ASSERT_TRUE(module);
  mlir::Block &block = (*module->getOps<mlir::func::FuncOp>().begin()).getBody().front();
  Tensor logits(block.getArgument(0)), labels(block.getArgument(1));
  logits.reals = {8, 0};
  auto lossWith = [&](std::function<double(double)> rounding) {
    Frame frame(nullptr);
    frame.define(block.getArgument(0), logits);
    frame.define(block.getArgument(1), labels);
    frame.setRounding(std::move(rounding));
    return (*runOp(block.front(), frame))[0].reals[0];
  };
  const double loss = lossWith(nullptr);
  EXPECT_NEAR(loss, std::log(1 + std::exp(-8)), 1e-12);
  EXPECT_NEAR(lossWith([](double number) { return number * (1 + 1e-6); }), loss + 8e-6, 1e-8);
}

/// Numbers near a midpoint: float64 would round the last two to it.
TEST(Rounding, OfIntegersIsOnce) {
  mlir::MLIRContext context;
  auto bf16 = mlir::BFloat16Type::get(&context);
  const int64_t one = 1, middle = (one << 62) + (one << 54), next = (one << 62) + (one << 55);
  EXPECT_EQ(roundTo(bf16, middle), double(one << 62));
  EXPECT_EQ(roundTo(bf16, middle + 1), double(next));
  EXPECT_EQ(roundTo(bf16, -middle - 1), -double(next));
}

} // namespace
} // namespace trainc::reference
