// Matrix products by cuBLASLt, emulated, against plain sums in f64.
#include "test/unit/runtime/device/first_gpu.h"
#include "test/unit/runtime/device/product_numbers.h"
#include "test/unit/runtime/device/short_numbers.h"

#include <gmock/gmock.h>

namespace trainc::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// More than the emulated library asks for.
constexpr uint64_t kEnough = uint64_t{1} << 20;

/// Error bound of one number. A GPU library may use the approximate tanh for activations, which is off by up
/// to 2^-11.
double unitOf(const Device &device, fb::Activation activation, fb::DType type) {
  const double unit = type == fb::DType::F32 ? 1e-6 : type == fb::DType::BF16 ? 8e-3 : 1e-3;
  return activation == fb::Activation::None || isEmulated(device) ? unit : std::max(unit, 0x1p-11);
}

class CudaProducts : public testing::Test {
protected:
  static fb::MatrixProductT describe(const ProductCase &c, const ProductNumbers &numbers, fb::DType factors,
                                     fb::DType result) {
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
    product.factors = factors;
    product.product = result;
    product.workspace_bytes = kEnough;
    return product;
  }

  void check(const ProductCase &c, fb::DType factors, fb::DType result) {
    ProductNumbers numbers(c);
    numbers.a = roundedTo(factors, numbers.a);
    numbers.b = roundedTo(factors, numbers.b);
    for (Numbers *each : {&numbers.result, &numbers.auxiliary, &numbers.bias})
      *each = roundedTo(result, *each);
    numbers.compute();
    OneCall call(*device);
    fb::MatrixProductT product = describe(c, numbers, factors, result);
    product.a = holdAs(call, factors, numbers.a);
    product.b = holdAs(call, factors, numbers.b);
    product.result = holdAs(call, result, numbers.result);
    auto auxiliary = holdAs(call, result, numbers.auxiliary), bias = holdAs(call, result, numbers.bias),
         side = holdAs(call, result, numbers.side);
    if (c.auxiliary)
      product.auxiliary = std::move(auxiliary);
    if (c.bias)
      product.bias = std::move(bias);
    if (c.side != fb::SideSum::None)
      product.side = std::move(side);
    product.workspace = call.holdBytes(kEnough);
    call.builder.product(call.body(), std::move(product));
    const Status status = call.run();
    ASSERT_TRUE(status.ok()) << c.name << ": " << status.message();
    const double unit = unitOf(*device, c.activation, result);
    const double bound = 2 * unit * std::sqrt(double(c.k)) + unit;
    expectNear(readAs(call, result, 2, numbers.result.size()), numbers.expected, bound,
               fmt::format("{}: result", c.name));
    expectNear(readAs(call, result, 3, numbers.auxiliary.size()), numbers.expectedAuxiliary, bound,
               fmt::format("{}: auxiliary", c.name));
    if (c.side != fb::SideSum::None)
      expectNear(readAs(call, result, 5, numbers.side.size()), numbers.expectedSide,
                 unit * double(std::max(c.k, c.m)), fmt::format("{}: side sums", c.name));
  }

  const std::unique_ptr<Device> device = firstGpu();
};

const ProductCase kForms[] = {
    {.name = "dense", .m = 24, .n = 40, .k = 16},
    {.name = "transposed a", .m = 24, .n = 40, .k = 16, .transposeA = true},
    {.name = "transposed b", .m = 24, .n = 40, .k = 16, .transposeB = true, .adds = true},
    {.name = "both transposed", .m = 24, .n = 40, .k = 16, .transposeA = true, .transposeB = true},
    {.name = "gaps", .m = 24, .n = 40, .k = 16, .adds = true, .gap = 8},
    {.name = "batch", .m = 16, .n = 8, .k = 24, .batch = 3},
    {.name = "batch that shares b",
     .m = 16,
     .n = 8,
     .k = 24,
     .batch = 3,
     .transposeB = true,
     .sharesB = true,
     .adds = true,
     .gap = 8},
    {.name = "bias", .m = 16, .n = 72, .k = 16, .gap = 8, .bias = true},
    {.name = "bias that adds", .m = 16, .n = 72, .k = 16, .adds = true, .bias = true},
    {.name = "gelu", .m = 16, .n = 72, .k = 16, .activation = fb::Activation::GeluTanh},
    {.name = "gelu with bias",
     .m = 16,
     .n = 72,
     .k = 16,
     .bias = true,
     .activation = fb::Activation::GeluTanh},
    {.name = "gelu with auxiliary",
     .m = 16,
     .n = 72,
     .k = 16,
     .gap = 8,
     .auxiliary = true,
     .activation = fb::Activation::GeluTanh},
    {.name = "gelu with bias and auxiliary",
     .m = 16,
     .n = 72,
     .k = 16,
     .bias = true,
     .auxiliary = true,
     .activation = fb::Activation::GeluTanh},
    {.name = "gelu's gradient",
     .m = 32,
     .n = 24,
     .k = 16,
     .auxiliary = true,
     .activation = fb::Activation::GeluTanhGradient},
    {.name = "gelu's gradient with sums",
     .m = 32,
     .n = 24,
     .k = 16,
     .gap = 8,
     .auxiliary = true,
     .activation = fb::Activation::GeluTanhGradient,
     .side = fb::SideSum::Result},
    {.name = "sums of a", .m = 16, .n = 8, .k = 64, .transposeA = true, .side = fb::SideSum::A},
    {.name = "sums of b", .m = 16, .n = 72, .k = 64, .transposeB = true, .side = fb::SideSum::B},
};

TEST_F(CudaProducts, AreComputedInF32) {
  for (const ProductCase &each : kForms)
    check(each, fb::DType::F32, fb::DType::F32);
}

/// cuBLASLt documents no activations of results that are wider than the factors, and plans have none.
TEST_F(CudaProducts, HaveShortFactors) {
  for (const ProductCase &each : kForms) {
    if (each.activation != fb::Activation::None)
      continue;
    check(each, fb::DType::BF16, fb::DType::F32);
    check(each, fb::DType::F16, fb::DType::F32);
  }
}

TEST_F(CudaProducts, HaveShortResults) {
  for (const ProductCase &each : kForms) {
    check(each, fb::DType::BF16, fb::DType::BF16);
    check(each, fb::DType::F16, fb::DType::F16);
  }
}

/// A product of fp8 numbers, whose a stands for `scaleA` times its numbers, and b for `scaleB` times.
void checkF8(Device &device, const ProductCase &c, fb::DType ofA, fb::DType ofB, fb::DType result) {
  constexpr float scaleA = 0x1p-4F, scaleB = 0x1p3F;
  ProductNumbers numbers(c);
  const Numbers a = roundedTo(ofA, numbers.a), b = roundedTo(ofB, numbers.b);
  numbers.result = roundedTo(result, numbers.result);
  std::ranges::transform(a, numbers.a.begin(), [](float each) { return scaleA * each; });
  std::ranges::transform(b, numbers.b.begin(), [](float each) { return scaleB * each; });
  numbers.compute();
  OneCall call(device);
  fb::MatrixProductT product = denseProduct(c.m, c.n, c.k, c.transposeA, c.transposeB);
  product.batch = c.batch;
  product.row_a = numbers.rowA;
  product.row_b = numbers.rowB;
  product.row_result = numbers.rowResult;
  product.matrix_a = numbers.matrixA;
  product.matrix_b = numbers.matrixB;
  product.matrix_result = numbers.matrixResult;
  product.adds = c.adds;
  product.factors = ofA;
  product.factors_b = ofB;
  product.product = result;
  product.a = holdAs(call, ofA, a);
  product.b = holdAs(call, ofB, b);
  product.result = holdAs(call, result, numbers.result);
  product.a_scale = call.hold(Numbers{scaleA});
  product.b_scale = call.hold(Numbers{scaleB});
  product.workspace_bytes = kEnough;
  product.workspace = call.holdBytes(kEnough);
  call.builder.product(call.body(), std::move(product));
  const Status status = call.run();
  ASSERT_TRUE(status.ok()) << c.name << ": " << status.message();
  const double bound = result == fb::DType::F32 ? 1e-5 : 2e-2;
  expectNear(readAs(call, result, 2, numbers.result.size()), numbers.expected, bound, c.name);
}

TEST_F(CudaProducts, HaveScaledFactorsOfAByte) {
  const ProductCase cases[] = {
      {.name = "dense", .m = 20, .n = 48, .k = 32, .transposeB = true},
      {.name = "adds", .m = 16, .n = 32, .k = 64, .transposeB = true, .adds = true, .gap = 16},
      {.name = "batch", .m = 16, .n = 16, .k = 32, .batch = 3, .transposeB = true, .sharesB = true}};
  for (const ProductCase &each : cases)
    for (const fb::DType result : {fb::DType::F32, fb::DType::BF16}) {
      checkF8(*device, each, fb::DType::F8E4M3, fb::DType::F8E4M3, result);
      checkF8(*device, each, fb::DType::F8E4M3, fb::DType::F8E5M2, result);
      checkF8(*device, each, fb::DType::F8E5M2, fb::DType::F8E4M3, result);
    }
}

TEST_F(CudaProducts, SmallOddOnesAreComputedInF32) {
  check({.name = "one number", .m = 1, .n = 1, .k = 1, .adds = true}, fb::DType::F32, fb::DType::F32);
  check({.name = "odd", .m = 5, .n = 7, .k = 3, .transposeB = true, .gap = 1, .bias = true}, fb::DType::F32,
        fb::DType::F32);
}

/// The first time without a graph, then as a part of one.
TEST_F(CudaProducts, RunInGraphs) {
  OneCall call(*device);
  fb::MatrixProductT product = denseProduct(8, 16, 24);
  product.a = call.hold(Numbers(8 * 24, 1));
  product.b = call.hold(Numbers(24 * 16, 2));
  product.result = call.hold(Numbers(8 * 16));
  product.adds = true;
  product.workspace_bytes = kEnough;
  product.workspace = call.holdBytes(kEnough);
  call.builder.product(call.body(), std::move(product));
  ASSERT_TRUE(call.run(/*times=*/4).ok());
  EXPECT_THAT(call.read(2), testing::Each(4 * 48.0F));
}

/// An operand that moves by its share of the buffer in each of so many iterations.
std::unique_ptr<fb::Operand> moving(OneCall &call, const Numbers &values, uint64_t iterations) {
  const auto operand = call.hold(values);
  return some(at(operand->buffer(), 0, static_cast<int64_t>(values.size() / iterations * sizeof(float))));
}

/// Later iterations have a smaller alignment than the first one, for all operands: the alignment passed to
/// the library must hold for all.
TEST_F(CudaProducts, RunInLoopsOfSmallSteps) {
  constexpr uint64_t kTimes = 3, kM = 1, kN = 5, kK = 3;
  for (const bool hasBias : {true, false}) {
    OneCall call(*device);
    fb::MatrixProductT product = denseProduct(kM, kN, kK);
    product.a = moving(call, Numbers(kTimes * kM * kK, 2), kTimes);
    product.b = moving(call, randomNumbers(kTimes * kK * kN, 1), kTimes);
    product.result = moving(call, Numbers(kTimes * kM * kN), kTimes);
    auto &vector = hasBias ? product.bias : product.side;
    vector = moving(call, randomNumbers(kTimes * kN, 2), kTimes);
    product.side_sum = hasBias ? fb::SideSum::None : fb::SideSum::B;
    product.workspace_bytes = kEnough;
    product.workspace = call.holdBytes(kEnough);
    const Numbers b = call.read(1), bias = call.read(3);
    call.builder.product(call.builder.loop(call.body(), kTimes), std::move(product));
    const Status status = call.run(/*times=*/2); // in a graph, too
    ASSERT_TRUE(status.ok()) << status.message();
    const Numbers result = call.read(2), side = call.read(3);
    for (uint64_t i = 0; i < kTimes; ++i)
      for (uint64_t j = 0; j < kN; ++j) {
        float sum = 0;
        for (uint64_t p = 0; p < kK; ++p)
          sum += b[(i * kK + p) * kN + j];
        ASSERT_NEAR(result[i * kN + j], 2 * sum + (hasBias ? bias[i * kN + j] : 0), 1e-6);
        if (!hasBias) {
          ASSERT_NEAR(side[i * kN + j], sum, 1e-6);
        }
      }
  }
}

/// A product of factors that are exact in f32 but not in TF32.
float productOfOne(Device &device, bool tf32, uint32_t size = 8) {
  OneCall call(device);
  const size_t count = size_t{size} * size;
  fb::MatrixProductT product = denseProduct(size, size, size);
  product.a = call.hold(Numbers(count, 1.0F + 0x1p-20F));
  product.b = call.hold(Numbers(count, 1));
  product.result = call.hold(Numbers(count));
  product.tf32 = tf32;
  product.workspace_bytes = kEnough;
  product.workspace = call.holdBytes(kEnough);
  call.builder.product(call.body(), std::move(product));
  const Status status = call.run();
  EXPECT_TRUE(status.ok()) << status.message();
  return call.read(2)[0];
}

/// TF32 is allowed, and not demanded: a library may compute small products without tensor cores.
TEST_F(CudaProducts, RoundFactorsToTf32WhereThePlanSaysSo) {
  EXPECT_EQ(productOfOne(*device, /*tf32=*/false), 8.0F + 0x1p-17F);
  EXPECT_THAT(productOfOne(*device, /*tf32=*/true), testing::AnyOf(8.0F, 8.0F + 0x1p-17F));
  EXPECT_EQ(productOfOne(*device, /*tf32=*/true, 256), 256.0F);
}

/// The status of a call on zeros.
Status tried(Device &device, fb::MatrixProductT product) {
  OneCall call(device);
  const uint64_t result = product.m * product.row_result;
  product.a = call.hold(Numbers(product.m * product.k));
  product.b = call.hold(Numbers(product.k * product.n));
  product.result = call.hold(Numbers(result));
  if (product.activation != fb::Activation::None)
    product.auxiliary = call.hold(Numbers(result));
  if (product.workspace_bytes > 0)
    product.workspace = call.holdBytes(product.workspace_bytes);
  call.builder.product(call.body(), std::move(product));
  return call.run();
}

TEST_F(CudaProducts, RefusesWhatCublasLtHasNot) {
  fb::MatrixProductT product = denseProduct(8, 16, 8);
  product.activation = fb::Activation::Gelu;
  const Status exact = tried(*device, product);
  EXPECT_EQ(exact.exitCode(), 2);
  EXPECT_THAT(
      exact.message(),
      AllOf(HasSubstr("entry init, instruction 0 (test.op at test.mlir:1): matrix product: expected an "
                      "epilogue that cuBLASLt has, found 8 x 16 x 8 of f32 factors and f32 results, "
                      "activation gelu, side sums none, auxiliary"),
            HasSubstr("compile the model again")));
  product.activation = fb::Activation::GeluTanh;
  product.row_result = 20;
  EXPECT_THAT(
      tried(*device, product).message(),
      HasSubstr("expected an auxiliary tensor with rows in multiples of 8 elements, as cuBLASLt needs, "
                "found rows every 20 and matrices every 0"));
}

/// Else each would cost its user a session with the GPU.
TEST_F(CudaProducts, RefusesAllAtOnce) {
  OneCall call(*device);
  for (int i = 0; i < 3; ++i) {
    fb::MatrixProductT product = denseProduct(8, 16, 8);
    product.a = call.hold(Numbers(64));
    product.b = call.hold(Numbers(128));
    product.result = call.hold(Numbers(128));
    product.workspace_bytes = kEnough;
    product.workspace = call.holdBytes(kEnough);
    if (i != 1) {
      product.activation = fb::Activation::Gelu;
      product.auxiliary = call.hold(Numbers(128));
    }
    call.builder.product(call.body(), std::move(product));
  }
  const Status status = call.run();
  EXPECT_EQ(status.exitCode(), 2);
  EXPECT_THAT(
      status.message(),
      testing::ContainsRegex("^entry init, instruction 0 \\(test.op .* again with this version of trainc\n"
                             "entry init, instruction 2 \\(test.op "));
}

TEST_F(CudaProducts, RefusesTooSmallAWorkspace) {
  const Status status = tried(*device, denseProduct(8, 16, 8));
  EXPECT_EQ(status.exitCode(), 2);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("expected one that cuBLASLt "),
                    HasSubstr("can do with a workspace of 0 bytes, found 8 x 16 x 8 of f32")));
}

/// Algorithms are chosen once, and resuming a checkpoint with others is detected.
TEST_F(CudaProducts, ArithmeticNamesLibraryAndAlgorithms) {
  EXPECT_THAT(device->arithmetic(), testing::Not(HasSubstr("cuBLASLt")));
  productOfOne(*device, false);
  const std::string before = device->arithmetic();
  EXPECT_THAT(before, AllOf(HasSubstr("cuBLASLt 13."), HasSubstr("algorithms ")));
  EXPECT_THAT(device->description(), HasSubstr("cuBLASLt 13."));
  const std::unique_ptr<Device> other = firstGpu();
  productOfOne(*other, false);
  EXPECT_EQ(other->arithmetic(), before);
}

} // namespace
} // namespace trainc::test
