// What matrix products of libraries compute, against plain sums in f64.
#include "runtime/device/cpu/library_math.h"
#include "runtime/schema/cpu_workspace.h"
#include "test/unit/runtime/device/one_call.h"

#include <gmock/gmock.h>

namespace trainc::test {
namespace {

using testing::HasSubstr;

double exactGelu(double x, bool isTanh) {
  return x / 2 *
         (1 + (isTanh ? std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))
                      : std::erf(x / std::sqrt(2))));
}
double exactSlope(double x, bool isTanh) {
  return (exactGelu(x + 1e-5, isTanh) - exactGelu(x - 1e-5, isTanh)) / 2e-5;
}

struct ProductCase {
  const char *name;
  uint64_t m, n, k, batch = 1;
  bool transposeA = false, transposeB = false, sharesB = false, adds = false;
  uint64_t gap = 0; ///< elements between rows
  bool bias = false, auxiliary = false;
  fb::Activation activation = fb::Activation::None;
  fb::SideSum side = fb::SideSum::None;
};

bool isGradient(fb::Activation activation) { return activation >= fb::Activation::GeluGradient; }
bool isTanh(fb::Activation activation) {
  return activation == fb::Activation::GeluTanh || activation == fb::Activation::GeluTanhGradient;
}

/// A case's tensors, and what they should become.
struct ProductNumbers {
  explicit ProductNumbers(const ProductCase &c) : c(c) {
    const uint64_t aRows = c.transposeA ? c.k : c.m, aColumns = c.transposeA ? c.m : c.k,
                   bRows = c.transposeB ? c.n : c.k, bColumns = c.transposeB ? c.k : c.n;
    rowA = aColumns + c.gap;
    rowB = bColumns + c.gap;
    rowResult = c.n + c.gap;
    matrixA = c.batch > 1 ? aRows * rowA + c.gap : 0;
    matrixB = c.batch > 1 && !c.sharesB ? bRows * rowB : 0;
    matrixResult = c.batch > 1 ? c.m * rowResult : 0;
    a = randomNumbers(c.batch * (aRows * rowA + c.gap), 1);
    b = randomNumbers(c.batch * bRows * rowB, 2);
    result = randomNumbers(c.batch * c.m * rowResult, 3);
    auxiliary = randomNumbers(result.size(), 4);
    bias = randomNumbers(c.n, 5);
    side = Numbers(c.side == fb::SideSum::A ? c.m : c.n, NAN);
    compute();
  }

  double atA(uint64_t matrix, uint64_t i, uint64_t p) const {
    return a[matrix * matrixA + (c.transposeA ? p * rowA + i : i * rowA + p)];
  }
  double atB(uint64_t matrix, uint64_t p, uint64_t j) const {
    return b[matrix * matrixB + (c.transposeB ? j * rowB + p : p * rowB + j)];
  }

  void compute() {
    expected.assign(result.begin(), result.end());
    expectedAuxiliary.assign(auxiliary.begin(), auxiliary.end());
    expectedSide.assign(side.size(), 0);
    for (uint64_t matrix = 0; matrix < c.batch; ++matrix)
      for (uint64_t i = 0; i < c.m; ++i)
        for (uint64_t j = 0; j < c.n; ++j)
          computeElement(matrix, i, j, matrix * matrixResult + i * rowResult + j);
    for (uint64_t p = 0; p < c.k; ++p) {
      for (uint64_t i = 0; c.side == fb::SideSum::A && i < c.m; ++i)
        expectedSide[i] += atA(0, i, p);
      for (uint64_t j = 0; c.side == fb::SideSum::B && j < c.n; ++j)
        expectedSide[j] += atB(0, p, j);
    }
  }

  void computeElement(uint64_t matrix, uint64_t i, uint64_t j, uint64_t place) {
    double x = (c.adds ? result[place] : 0) + (c.bias ? bias[j] : 0);
    for (uint64_t p = 0; p < c.k; ++p)
      x += atA(matrix, i, p) * atB(matrix, p, j);
    if (isGradient(c.activation)) {
      x *= exactSlope(auxiliary[place], isTanh(c.activation));
    } else if (c.activation != fb::Activation::None) {
      if (c.auxiliary)
        expectedAuxiliary[place] = x;
      x = exactGelu(x, isTanh(c.activation));
    }
    expected[place] = x;
    if (c.side == fb::SideSum::Result)
      expectedSide[j] += x;
  }

  ProductCase c;
  uint64_t rowA, rowB, rowResult, matrixA, matrixB, matrixResult;
  Numbers a, b, result, auxiliary, bias, side;
  Reals expected, expectedAuxiliary, expectedSide;
};

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
