// Conversions to and from fp8 in generated kernels on the emulated GPU, against the formats' definition.
#include "base/float8.h"
#include "base/small_float.h"
#include "test/unit/codegen/cuda_harness.h"

#include <gmock/gmock.h>

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen::harness;
using ::testing::HasSubstr;

namespace {

std::string conversion(const std::string &shape, const std::string &from, const std::string &to) {
  const std::string x = "tensor<" + shape + "x" + from + ">", r = "tensor<" + shape + "x" + to + ">";
  return "func.func @f(%x: " + x + ") -> " + r + " {\n  %r = nn.convert %x to " + to + " : " + x +
         "\n  return %r : " + r + "\n}";
}

reference::Tensors numbersOf(const CudaOp &op, llvm::function_ref<double(int64_t)> number) {
  reference::Tensor x(cast<RankedTensorType>(op.inputTypes().front()));
  for (int64_t i = 0; i < x.elements(); ++i)
    x.reals[i] = number(i);
  return {std::move(x)};
}

void expectNumber(double found, double expected, int64_t index) {
  if (std::isnan(expected))
    EXPECT_TRUE(std::isnan(found)) << index;
  else
    EXPECT_EQ(found, expected) << index;
}

/// Converts every number of bf16 and f16, including infinities and NaNs; values beyond the largest saturate.
template <typename Format, typename Short>
void expectNarrowed(const std::string &from, const std::string &to) {
  const CudaOp op(conversion("256x256", from, to));
  ASSERT_TRUE(op);
  auto number = [](int64_t bits) { return static_cast<double>(Short{static_cast<uint16_t>(bits)}); };
  const reference::Tensors result = op.run(numbersOf(op, number));
  ASSERT_EQ(result.size(), 1U);
  for (int64_t i = 0; i < result[0].elements(); ++i)
    expectNumber(result[0].reals[i], static_cast<double>(Format::nearest(number(i))), i);
}

TEST(CudaFp8, ShortNumbersBecomeTheNearest) {
  expectNarrowed<Float8E4M3, BFloat16>("bf16", "f8E4M3FN");
  expectNarrowed<Float8E5M2, BFloat16>("bf16", "f8E5M2");
  expectNarrowed<Float8E4M3, Float16>("f16", "f8E4M3FN");
  expectNarrowed<Float8E5M2, Float16>("f16", "f8E5M2");
}

/// Converts midpoints of f32 neighbours, and the values next to them.
template <typename Format> void expectMiddlesNarrowed(const std::string &to) {
  const CudaOp op(conversion("127x6", "f32", to));
  ASSERT_TRUE(op);
  auto number = [](int64_t index) {
    const auto bits = static_cast<uint8_t>(index / 6);
    const auto below = static_cast<float>(Format{bits}),
               above = static_cast<float>(Format{uint8_t(bits + 1)});
    const float middle = below + (above - below) / 2;
    const float near[] = {middle, std::nextafter(middle, 0.0F), std::nextafter(middle, 1e9F)};
    return double{std::copysign(near[index % 3], index % 2 == 0 ? 1.0F : -1.0F)};
  };
  const reference::Tensors result = op.run(numbersOf(op, number));
  ASSERT_EQ(result.size(), 1U);
  for (int64_t i = 0; i < result[0].elements(); ++i)
    expectNumber(result[0].reals[i], static_cast<double>(Format::nearest(number(i))), i);
}

TEST(CudaFp8, ThoseOfF32BecomeTheNearest) {
  expectMiddlesNarrowed<Float8E4M3>("f8E4M3FN");
  expectMiddlesNarrowed<Float8E5M2>("f8E5M2");
}

template <typename Format> void expectWidened(const std::string &from, const std::string &to) {
  const CudaOp op(conversion("16x16", from, to));
  ASSERT_TRUE(op);
  auto number = [](int64_t bits) { return static_cast<double>(Format{static_cast<uint8_t>(bits)}); };
  const reference::Tensors result = op.run(numbersOf(op, number));
  ASSERT_EQ(result.size(), 1U);
  for (int64_t i = 0; i < result[0].elements(); ++i)
    expectNumber(result[0].reals[i], number(i), i);
}

TEST(CudaFp8, AreWidenedExactly) {
  expectWidened<Float8E4M3>("f8E4M3FN", "f32");
  expectWidened<Float8E5M2>("f8E5M2", "f32");
  expectWidened<Float8E4M3>("f8E4M3FN", "bf16");
  expectWidened<Float8E5M2>("f8E5M2", "f16");
}

TEST(CudaFp8, OddRowsAreConvertedOneByOne) {
  expectGpuMatchesReference(conversion("5x3", "f32", "f8E4M3FN"), 0);
  expectGpuMatchesReference(conversion("5x3", "f8E5M2", "f32"), 0);
}

/// As factors of products are made.
TEST(CudaFp8, AreScaledOnTheWay) {
  expectGpuMatchesReference(R"(
    func.func @f(%x: tensor<24x48xbf16>, %s: tensor<f32>) -> tensor<24x48xf8E4M3FN> {
      %w = nn.convert %x to f32 : tensor<24x48xbf16>
      %b = nn.broadcast %s to [24, 48] : tensor<f32>
      %p = nn.mul %w, %b : tensor<24x48xf32>, tensor<24x48xf32>
      %r = nn.convert %p to f8E4M3FN : tensor<24x48xf32>
      return %r : tensor<24x48xf8E4M3FN>
    })",
                            0);
}

TEST(CudaFp8, AreTransposed) {
  expectGpuMatchesReference(R"(
    func.func @f(%x: tensor<33x48xf8E4M3FN>) -> tensor<48x33xf8E4M3FN> {
      %r = nn.transpose %x by [1, 0] : tensor<33x48xf8E4M3FN>
      return %r : tensor<48x33xf8E4M3FN>
    })",
                            0);
}

/// Code is for GPUs with such instructions where it has them, and else for all.
TEST(CudaFp8, AskForAGpuThatHasThem) {
  const CudaOp narrowed(conversion("16x16", "bf16", "f8E4M3FN")), other(conversion("16x16", "bf16", "f32"));
  ASSERT_TRUE(narrowed);
  ASSERT_TRUE(other);
  EXPECT_THAT(narrowed.text().str(), HasSubstr(".target sm_89"));
  EXPECT_THAT(narrowed.text().str(), HasSubstr("cvt.rn.satfinite.e4m3x2.f32"));
  EXPECT_THAT(other.text().str(), HasSubstr(".target sm_80"));
}

} // namespace
