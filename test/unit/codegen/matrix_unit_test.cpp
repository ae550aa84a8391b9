// Products of bf16 numbers on the matrix unit: instructions of the machine code, and the order of sums.
#include "test/unit/codegen/disassembly.h"
#include "test/unit/codegen/low_numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace trainc::codegen::harness;
using ::testing::ElementsAre;
using trainc::Fp32Products;

namespace {

std::string product(int64_t m, int64_t n, int64_t k, const std::string &factor = "bf16") {
  const auto tensor = [](int64_t rows, int64_t columns, const std::string &element) {
    return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "x" + element + ">";
  };
  const std::string a = tensor(m, k, factor), b = tensor(k, n, factor), c = tensor(m, n, "f32");
  return "func.func @f(%a: " + a + ", %b: " + b + ") -> " + c + " { %0 = nn.matmul %a, %b" +
         (factor == "f32" ? "" : " to f32") + " : " + a + ", " + b + " return %0 : " + c + " }";
}

int64_t count(const std::vector<std::string> &instructions, llvm::StringRef name) {
  return llvm::count_if(instructions, [&](llvm::StringRef each) { return each.starts_with(name); });
}

/// The f32 product of two matrices of bf16 numbers.
std::vector<float> productOf(const CompiledOp &op, const std::string &level, const std::vector<float> &a,
                             const std::vector<float> &b, int64_t results) {
  std::vector<Buffer> operands;
  operands.push_back(lowBuffer(a, Low::Bf16));
  operands.push_back(lowBuffer(b, Low::Bf16));
  const CompiledOp::Execution execution = op.prepare(std::move(operands), level);
  execution.run();
  return readF32(execution.resultBytes(0), results);
}

} // namespace

/// One, two and four accumulator tiles: each has one load or zero before the loop and one store after it, and
/// one multiplication per step. Each tile of A and B is loaded once per step. More loads or stores would be
/// spills.
TEST(MatrixUnit, TilesStayInRegisters) {
  const CompiledOp op(product(64, 64, 64), Fp32Products::Fma, Unit::Real);
  ASSERT_TRUE(op);
  const std::vector<std::string> code = instructions(op.object(kUnitLevel));
  EXPECT_EQ(count(code, "tdpbf16ps"), 9);
  EXPECT_EQ(count(code, "tilestored"), 9);
  EXPECT_EQ(count(code, "tilezero"), 9);
  EXPECT_EQ(count(code, "tileloadd"), 9 + 2 + 3 + 3 + 4);
  EXPECT_EQ(count(code, "ldtilecfg"), 1);
  EXPECT_EQ(count(code, "tilerelease"), 1);
  EXPECT_EQ(count(code, "vdpbf16ps"), 0);
  for (const char *level : {"x86-64-v3", "x86-64-v4", "x86-64-v4-bf16"})
    EXPECT_EQ(count(instructions(op.object(level)), "tile"), 0) << level;
}

/// Sums of even and of odd terms are apart. One after the other, as on other levels, 2^24 would swallow a
/// one. (A product of one row does not use the unit.)
TEST(MatrixUnit, AddsEvenAndOddTermsApart) {
  if (!CompiledOp::levelRunsHere(kUnitLevel))
    GTEST_SKIP() << "this CPU has no AVX-512";
  const CompiledOp op(product(2, 1, 4));
  ASSERT_TRUE(op);
  const std::vector<float> a = {0x1p24F, 1, -0x1p24F, 1, 1, 2, 3, 4}, b(4, 1.0F);
  EXPECT_THAT(productOf(op, kUnitLevel, a, b, 2), ElementsAre(2, 10));
  EXPECT_THAT(productOf(op, "x86-64-v4", a, b, 2), ElementsAre(1, 10));
}

/// If f32 products use the matrix unit, bf16 products have the bits of the unit's own level.
TEST(MatrixUnit, HasTheSameBitsBesideSplitProducts) {
  if (!CompiledOp::levelRunsHere(kUnitLevel))
    GTEST_SKIP() << "this CPU has no AVX-512";
  const CompiledOp alone(product(45, 83, 77)), beside(product(45, 83, 77), Fp32Products::Bf16x3);
  ASSERT_TRUE(alone && beside);
  const std::vector<float> a = randomNumbers(45 * 77, Low::Bf16, 1), b = randomNumbers(77 * 83, Low::Bf16, 2);
  EXPECT_EQ(productOf(beside, "x86-64-v4", a, b, 45 * 83), productOf(alone, kUnitLevel, a, b, 45 * 83));
}

/// Holds the emulation against the unit, of numbers of all magnitudes.
TEST(MatrixUnit, IsEmulatedBitForBit) {
  if (unitHere() != Unit::Real)
    GTEST_SKIP() << "this CPU has no AMX";
  const CompiledOp real(product(45, 83, 77)),
      emulated(product(45, 83, 77), Fp32Products::Fma, Unit::Emulated);
  ASSERT_TRUE(real && emulated);
  std::vector<float> a = randomNumbers(45 * 77, Low::Bf16, 1);
  const std::vector<float> b = randomNumbers(77 * 83, Low::Bf16, 2);
  for (int64_t i = 0; i < 45 * 77; ++i)
    a[i] = roundedTo(std::ldexp(a[i], int(i % 45) * 6 - 133), Low::Bf16);
  // Some sums contain infinities and give NaN, whose bits are unspecified.
  const std::vector<float> units = productOf(real, kUnitLevel, a, b, 45 * 83),
                           emulations = productOf(emulated, kUnitLevel, a, b, 45 * 83);
  for (size_t i = 0; i < units.size(); ++i)
    EXPECT_TRUE(units[i] == emulations[i] || (std::isnan(units[i]) && std::isnan(emulations[i])))
        << "element " << i << ": " << units[i] << " and " << emulations[i];
}
