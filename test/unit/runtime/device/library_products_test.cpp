// Matrix products by libraries, compared with plain sums in f64.
#include "plan/schema/cpu_workspace.h"
#include "runtime/device/cpu/library_math.h"
#include "test/unit/runtime/device/product_numbers.h"

#include <gmock/gmock.h>

namespace trainc::test {
namespace {

using testing::HasSubstr;

class LibraryProducts : public testing::TestWithParam<MakeComputingDevice> {
protected:
  const std::unique_ptr<Device> device = GetParam()();

  void check(const ProductCase &c) {
    const ProductNumbers numbers(c);
    OneCall call(*device);
    fb::MatrixProductT product = denseProduct(c.m, c.n, c.k, c.transposeA, c.transposeB);
    product.batch = c.batch;
    product.row_a = numbers.rowA;
    product.row_b = numbers.rowB;
    product.row_result = numbers.rowResult;
    product.matrix_a = numbers.matrixA;
    product.matrix_b = numbers.matrixB;
    product.matrix_result = numbers.matrixResult;
    product.adds = c.adds;
    product.activation = c.activation;
    product.side_sum = c.side;
    product.a = call.hold(numbers.a);
    product.b = call.hold(numbers.b);
    product.result = call.hold(numbers.result);
    auto auxiliary = call.hold(numbers.auxiliary), bias = call.hold(numbers.bias),
         side = call.hold(numbers.side);
    if (c.auxiliary)
      product.auxiliary = std::move(auxiliary);
    if (c.bias)
      product.bias = std::move(bias);
    if (c.side != fb::SideSum::None)
      product.side = std::move(side);
    product.workspace_bytes = cpuProductWorkspace(c.transposeB, c.n, c.k);
    product.workspace = call.holdBytes(product.workspace_bytes);
    call.builder.product(call.body(), std::move(product));
    ASSERT_TRUE(call.run().ok());
    const double bound = 1e-6 * std::sqrt(double(c.k)) + 1e-6;
    expectNear(call.read(2), numbers.expected, bound, fmt::format("{}: result", c.name));
    expectNear(call.read(3), numbers.expectedAuxiliary, bound, fmt::format("{}: auxiliary", c.name));
    if (c.side != fb::SideSum::None)
      expectNear(call.read(5), numbers.expectedSide, 10 * bound, fmt::format("{}: side sums", c.name));
  }
};

TEST_P(LibraryProducts, ComputesMatrixProducts) {
  using enum fb::Activation;
  const ProductCase cases[] = {
      {.name = "dense", .m = 5, .n = 7, .k = 3},
      {.name = "tiles", .m = 70, .n = 130, .k = 600},
      {.name = "transposed a", .m = 9, .n = 66, .k = 300, .transposeA = true},
      {.name = "transposed b", .m = 9, .n = 300, .k = 31, .transposeB = true},
      {.name = "both transposed",
       .m = 6,
       .n = 5,
       .k = 4,
       .transposeA = true,
       .transposeB = true,
       .adds = true},
      {.name = "batch", .m = 4, .n = 6, .k = 5, .batch = 3},
      {.name = "batch with gaps",
       .m = 4,
       .n = 6,
       .k = 5,
       .batch = 3,
       .transposeB = true,
       .sharesB = true,
       .adds = true,
       .gap = 3},
      {.name = "one number", .m = 1, .n = 1, .k = 1, .adds = true},
      {.name = "bias", .m = 8, .n = 70, .k = 16, .gap = 2, .bias = true},
      {.name = "gelu", .m = 8, .n = 70, .k = 16, .activation = Gelu},
      {.name = "bias and gelu",
       .m = 8,
       .n = 70,
       .k = 16,
       .adds = true,
       .gap = 1,
       .bias = true,
       .auxiliary = true,
       .activation = Gelu},
      {.name = "bias and gelu tanh",
       .m = 8,
       .n = 70,
       .k = 16,
       .bias = true,
       .auxiliary = true,
       .activation = GeluTanh},
      {.name = "gelu's gradient",
       .m = 8,
       .n = 70,
       .k = 16,
       .auxiliary = true,
       .activation = GeluGradient,
       .side = fb::SideSum::Result},
      {.name = "gelu tanh's gradient",
       .m = 300,
       .n = 9,
       .k = 16,
       .adds = true,
       .gap = 1,
       .auxiliary = true,
       .activation = GeluTanhGradient,
       .side = fb::SideSum::Result},
      {.name = "sums of a", .m = 8, .n = 7, .k = 300, .transposeA = true, .side = fb::SideSum::A},
      {.name = "sums of b", .m = 8, .n = 70, .k = 300, .transposeB = true, .gap = 1, .side = fb::SideSum::B}};
  for (const ProductCase &each : cases)
    check(each);
}

/// A workspace that is too small is an error before anything runs.
TEST_P(LibraryProducts, RefusesTooSmallAWorkspace) {
  OneCall call(*device);
  fb::MatrixProductT product = denseProduct(2, 3, 4, false, true);
  product.a = call.hold(Numbers(8));
  product.b = call.hold(Numbers(12));
  product.result = call.hold(Numbers(6));
  product.workspace_bytes = 44;
  product.workspace = call.holdBytes(64);
  call.builder.product(call.body(), std::move(product));
  const Status status = call.run();
  EXPECT_EQ(status.exitCode(), 2);
  EXPECT_THAT(
      status.message(),
      HasSubstr(
          "entry init, instruction 0 (test.op at test.mlir:1): matrix product: expected a workspace of 48 "
          "bytes or more on this device, found 44; compile the model again"));
}

INSTANTIATE_TEST_SUITE_P(Cpu, LibraryProducts, testing::Values(onCpu<1>, onCpu<3>));
INSTANTIATE_TEST_SUITE_P(Emulated, LibraryProducts, testing::Values(onEmulated<1>));

TEST(LibraryProductsOnThreads, HaveTheSameBits) {
  std::vector<Numbers> results;
  for (const unsigned threads : {1U, 2U, 5U}) {
    CpuDevice device(threads);
    OneCall call(device);
    fb::MatrixProductT product = denseProduct(130, 300, 700, false, true);
    product.a = call.hold(randomNumbers(130 * 700, 1));
    product.b = call.hold(randomNumbers(300 * 700, 2));
    product.result = call.hold(Numbers(130 * 300));
    product.workspace_bytes = cpuProductWorkspace(true, 300, 700);
    product.workspace = call.holdBytes(product.workspace_bytes);
    call.builder.product(call.body(), std::move(product));
    ASSERT_TRUE(call.run().ok());
    results.push_back(call.read(2));
    EXPECT_EQ(results.back(), results.front());
  }
}

TEST(PlainMath, IsAsExactAsTheCLibrary) {
  for (double x = -30; x < 30; x += 0.0137) {
    EXPECT_NEAR(plain::exp(x) / std::exp(x), 1, 4e-16) << x;
    EXPECT_NEAR(plain::tanh(x), std::tanh(x), 4e-16) << x;
    EXPECT_NEAR(plain::erf(x / 4), std::erf(x / 4), 2e-15) << x;
    EXPECT_NEAR(plain::log(std::exp(x)), std::log(std::exp(x)), 8e-15) << x;
  }
  EXPECT_EQ(plain::exp(-1000), 0);
  EXPECT_EQ(plain::exp(1000), HUGE_VAL);
  EXPECT_EQ(plain::log(0), -HUGE_VAL);
  EXPECT_EQ(plain::log(HUGE_VAL), HUGE_VAL);
  EXPECT_EQ(plain::erf(1e300), 1);
  for (double (*function)(double) : {plain::exp, plain::log, plain::tanh, plain::erf})
    EXPECT_TRUE(std::isnan(function(NAN)));
  EXPECT_TRUE(std::isnan(plain::log(-1)));
}

} // namespace
} // namespace trainc::test
