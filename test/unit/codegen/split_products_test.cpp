// Matrix products of f32 numbers on the matrix unit, which is emulated if the CPU has none.
#include "test/unit/codegen/kernel_harness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace trainc;
using namespace trainc::codegen;
using namespace trainc::codegen::harness;
using reference::Tensor;
using reference::Tensors;
using ::testing::HasSubstr;

namespace {

const std::string kLevel = "x86-64-v4";

bool runsHere() { return CompiledOp::levelRunsHere(kLevel); }

/// Maximum error of `actual` relative to the sum of the terms' magnitudes.
double relativeError(const CompiledOp &op, const Tensors &inputs, const Tensor &actual) {
  Tensors magnitudes = inputs;
  for (Tensor &tensor : magnitudes)
    for (double &real : tensor.reals)
      real = std::abs(real);
  const Tensor expected = op.reference(inputs)[0], scale = op.reference(magnitudes)[0];
  double worst = 0;
  for (int64_t i = 0; i < expected.elements(); ++i)
    worst = std::max(worst, std::abs(actual.real(i) - expected.real(i)) / scale.real(i));
  return worst;
}

/// As accurate as f32: three roundings to 24 bits at most of the sum of magnitudes, whatever the depth.
void expectAccurate(const std::string &text) {
  const CompiledOp op(text, Fp32Products::Bf16x3);
  ASSERT_TRUE(op);
  EXPECT_THAT(op.launched()[0], HasSubstr("gemm_"));
  if (!runsHere())
    GTEST_SKIP() << "this CPU has no AVX-512";
  const Tensors inputs = op.randomInputs();
  const Tensors results = op.run(inputs, kLevel);
  EXPECT_LT(relativeError(op, inputs, results[0]), 3 * std::ldexp(1.0, -24));
  for (Order order : {Order::Reversed, Order::InThrees})
    EXPECT_EQ(op.run(inputs, kLevel, order)[0].reals, results[0].reals);
}

} // namespace

TEST(SplitProducts, OddSizes) {
  expectAccurate(R"(func.func @f(%a: tensor<45x77xf32>, %b: tensor<77x83xf32>) -> tensor<45x83xf32> {
    %0 = nn.matmul %a, %b : tensor<45x77xf32>, tensor<77x83xf32>
    return %0 : tensor<45x83xf32> })");
}

TEST(SplitProducts, TransposedA) {
  expectAccurate(R"(func.func @f(%a: tensor<77x45xf32>, %b: tensor<77x83xf32>) -> tensor<45x83xf32> {
    %0 = nn.matmul %a transposed, %b : tensor<77x45xf32>, tensor<77x83xf32>
    return %0 : tensor<45x83xf32> })");
}

TEST(SplitProducts, TransposedB) {
  expectAccurate(R"(func.func @f(%a: tensor<45x77xf32>, %b: tensor<83x77xf32>) -> tensor<45x83xf32> {
    %0 = nn.matmul %a, %b transposed : tensor<45x77xf32>, tensor<83x77xf32>
    return %0 : tensor<45x83xf32> })");
}

TEST(SplitProducts, SeveralBlocksOfTermsAndTiles) {
  expectAccurate(R"(func.func @f(%a: tensor<400x600xf32>, %b: tensor<600x530xf32>) -> tensor<400x530xf32> {
    %0 = nn.matmul %a, %b : tensor<400x600xf32>, tensor<600x530xf32>
    return %0 : tensor<400x530xf32> })");
}

TEST(SplitProducts, Batches) {
  expectAccurate(R"(func.func @f(%a: tensor<3x64x40xf32>, %b: tensor<3x40x64xf32>) -> tensor<3x64x64xf32> {
    %0 = nn.matmul %a, %b : tensor<3x64x40xf32>, tensor<3x40x64xf32>
    return %0 : tensor<3x64x64xf32> })");
}

TEST(SplitProducts, NumbersOfAllMagnitudes) {
  const CompiledOp op(R"(func.func @f(%a: tensor<32x64xf32>, %b: tensor<64x32xf32>) -> tensor<32x32xf32> {
    %0 = nn.matmul %a, %b : tensor<32x64xf32>, tensor<64x32xf32>
    return %0 : tensor<32x32xf32> })",
                      Fp32Products::Bf16x3);
  ASSERT_TRUE(op);
  if (!runsHere())
    GTEST_SKIP() << "this CPU has no AVX-512";
  Tensors inputs = op.randomInputs();
  for (int64_t i = 0; i < inputs[0].elements(); ++i) // a row of A for each power of two from -78 to 77
    inputs[0].reals[i] = std::ldexp(inputs[0].reals[i], int(i / 64 - 16) * 5 + 2);
  EXPECT_LT(relativeError(op, inputs, op.run(inputs, kLevel)[0]), 3 * std::ldexp(1.0, -24));
}

TEST(SplitProducts, NaNStaysInItsRow) {
  const CompiledOp op(R"(func.func @f(%a: tensor<40x33xf32>, %b: tensor<33x40xf32>) -> tensor<40x40xf32> {
    %0 = nn.matmul %a, %b : tensor<40x33xf32>, tensor<33x40xf32>
    return %0 : tensor<40x40xf32> })",
                      Fp32Products::Bf16x3);
  ASSERT_TRUE(op);
  if (!runsHere())
    GTEST_SKIP() << "this CPU has no AVX-512";
  Tensors inputs = op.randomInputs();
  inputs[0].reals[7 * 33 + 32] = std::nan("");
  inputs[0].reals[9 * 33 + 1] = HUGE_VAL; // becomes NaN: infinity has no finite remainder
  const Tensor result = op.run(inputs, kLevel)[0];
  for (int64_t i = 0; i < result.elements(); ++i)
    EXPECT_EQ(std::isnan(result.real(i)), i / 40 == 7 || i / 40 == 9) << i;
}

TEST(SplitProducts, SmallProductsUseMultiplyAdds) {
  const std::string text =
      R"(func.func @f(%a: tensor<31x64xf32>, %b: tensor<64x32xf32>) -> tensor<31x32xf32> {
    %0 = nn.matmul %a, %b : tensor<31x64xf32>, tensor<64x32xf32>
    return %0 : tensor<31x32xf32> })";
  const CompiledOp split(text, Fp32Products::Bf16x3), fma(text);
  ASSERT_TRUE(split && fma);
  if (!runsHere())
    GTEST_SKIP() << "this CPU has no AVX-512";
  const Tensors inputs = fma.randomInputs();
  EXPECT_EQ(split.run(inputs, kLevel)[0].reals, fma.run(inputs, kLevel)[0].reals);
}
