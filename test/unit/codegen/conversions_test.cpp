// Conversions to and from bf16 and f16 in generated kernels, against tables of all numbers of these types.
#include "test/unit/codegen/kernel_harness.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace trainc::codegen;
using namespace trainc::codegen::harness;

namespace {

/// A 16-bit float type with `fraction` fraction bits.
struct Format {
  const char *name;
  int fraction, bias;

  uint16_t infinity() const { return uint16_t(0x7fff >> fraction << fraction); }
  /// Value of bits without a sign. For the bits of infinity, the number that would follow the largest.
  double magnitude(uint16_t bits) const {
    const int exponent = bits >> fraction, minimum = exponent == 0;
    const int digits = (bits & ((1 << fraction) - 1)) + (minimum ? 0 : 1 << fraction);
    return std::ldexp(digits, exponent + minimum - bias - fraction);
  }
};

constexpr Format kBf16{"bf16", 7, 127}, kF16{"f16", 10, 15};

constexpr int kPatterns = 1 << 16;

/// One kernel that converts `count` elements.
std::string conversion(int64_t count, const std::string &from, const std::string &to) {
  const std::string size = "tensor<" + std::to_string(count) + "x";
  return "func.func @f(%x: " + size + from + ">) -> " + size + to + "> {\n  %r = nn.convert %x to " + to +
         " : " + size + from + ">\n  return %r : " + size + to + ">\n}";
}

/// A kernel of one operand and one result, ready to run on each level.
class Kernel {
public:
  explicit Kernel(const std::string &text) : op(text) {
    if (op)
      for (const char *level : {"x86-64-v3", "x86-64-v4"})
        if (CompiledOp::levelRunsHere(level))
          executions.emplace_back(level, op.prepare(op.randomInputs(), level));
  }

  /// Converts `input` and passes the results to `check`.
  template <typename To, typename From>
  void run(const std::vector<From> &input, llvm::function_ref<void(const std::vector<To> &)> check) {
    ASSERT_FALSE(executions.empty());
    for (const auto &[level, execution] : executions) {
      SCOPED_TRACE(level);
      std::memcpy(execution.operandBytes(0), input.data(), input.size() * sizeof(From));
      execution.run();
      std::vector<To> result(input.size());
      std::memcpy(result.data(), execution.resultBytes(0), result.size() * sizeof(To));
      check(result);
    }
  }

private:
  CompiledOp op;
  std::vector<std::pair<std::string, CompiledOp::Execution>> executions;
};

/// Rounds numbers whose magnitudes rise.
class Rounding {
public:
  explicit Rounding(const Format &format) : format(format) { seek(0); }

  /// The bits of the nearest number of the type; of two, the even one.
  uint16_t nearest(double number) {
    const uint16_t sign = std::signbit(number) ? 0x8000 : 0;
    const double magnitude = std::abs(number);
    while (bits < format.infinity() && above <= magnitude)
      seek(bits + 1);
    if (bits == format.infinity())
      return sign | bits;
    const double down = magnitude - below, up = above - magnitude; // exact, as both are near
    const bool rises = up < down || (up == down && bits % 2 != 0);
    return sign | uint16_t(bits + rises);
  }

private:
  void seek(int to) {
    bits = uint16_t(to);
    below = format.magnitude(bits);
    above = format.magnitude(bits + 1);
  }

  Format format;
  uint16_t bits;
  double below, above;
};

/// A quiet NaN with the upper bits of the fraction of `number`.
uint16_t quietNaN(const Format &format, float number) {
  const auto bits = std::bit_cast<uint32_t>(number);
  const uint16_t kept = uint16_t((bits & 0x7fffff) >> (23 - format.fraction));
  return uint16_t(bits >> 16 & 0x8000) | format.infinity() | uint16_t(1 << (format.fraction - 1)) | kept;
}

/// All numbers of the type, the midpoint after each, and its neighbours in `Wide`, in ascending magnitude.
template <typename Wide> std::vector<Wide> decisions(const Format &format) {
  constexpr Wide infinity = std::numeric_limits<Wide>::infinity();
  std::vector<Wide> numbers;
  for (int bits = 0; bits < format.infinity(); ++bits) {
    const double below = format.magnitude(uint16_t(bits)), above = format.magnitude(uint16_t(bits + 1));
    const Wide middle = Wide(below + (above - below) / 2);
    for (Wide number :
         {Wide(below), std::nextafter(middle, Wide(0)), middle, std::nextafter(middle, infinity)})
      for (Wide sign : {Wide(1), Wide(-1)})
        numbers.push_back(std::copysign(number, sign));
  }
  for (Wide number : {std::numeric_limits<Wide>::max(), infinity})
    for (Wide sign : {Wide(1), Wide(-1)})
      numbers.push_back(std::copysign(number, sign));
  return numbers;
}

template <typename Wide> void expectRounded(const Format &format, const char *from) {
  const std::vector<Wide> numbers = decisions<Wide>(format);
  Kernel kernel(conversion(int64_t(numbers.size()), from, format.name));
  kernel.run<uint16_t>(numbers, [&](const std::vector<uint16_t> &rounded) {
    Rounding rounding(format);
    for (size_t i = 0; i < numbers.size(); ++i)
      ASSERT_EQ(rounded[i], rounding.nearest(double(numbers[i]))) << double(numbers[i]);
  });
}

/// Bits of the nearest number, computed with integers only: the first dropped bit is a half.
uint16_t nearest(const Format &format, int64_t number) {
  const uint64_t magnitude = number < 0 ? 0 - uint64_t(number) : uint64_t(number);
  const uint16_t sign = number < 0 ? 0x8000 : 0;
  if (magnitude == 0)
    return 0;
  const int exponent = std::bit_width(magnitude) - 1, dropped = std::max(0, exponent - format.fraction);
  const uint64_t rest = magnitude & ((uint64_t(1) << dropped) - 1), half = uint64_t(1) << dropped >> 1;
  uint64_t digits = magnitude >> dropped; // of which the first is 1, and adds one to the exponent
  digits += dropped > 0 && (rest > half || (rest == half && digits % 2 != 0)) ? 1 : 0;
  digits <<= format.fraction - (exponent - dropped);
  const uint64_t bits = (uint64_t(exponent + format.bias - 1) << format.fraction) + digits;
  return sign | uint16_t(std::min<uint64_t>(bits, format.infinity()));
}

/// Integers of all magnitudes at the midpoint of two numbers of the type, with the even one below or above,
/// and neighbours at distances of each power of two, including distances that f32 and f64 cannot represent.
template <typename Integer> std::vector<Integer> integerDecisions(const Format &format) {
  using Limits = std::numeric_limits<Integer>;
  std::vector<Integer> numbers = {0, 1, -1, Limits::max(), Limits::max() - 1, Limits::min(), -Limits::max()};
  const int64_t end = int64_t(1) << format.fraction;
  for (int shift = 0; shift + format.fraction + 1 < Limits::digits; ++shift)
    for (int64_t digits : {int64_t(0), int64_t(1), end / 3, end / 2, end - 2, end - 1}) {
      const int64_t middle = ((end + digits) * 2 + 1) << shift;
      for (int64_t beside = 0; beside <= int64_t(1) << shift; beside = std::max<int64_t>(1, beside * 2))
        for (int64_t number : {middle + beside, middle - beside})
          for (int64_t sign : {1, -1})
            numbers.push_back(Integer(sign * std::min<int64_t>(number, Limits::max())));
    }
  return numbers;
}

template <typename Integer> void expectIntegersRounded(const Format &format, const char *from) {
  const std::vector<Integer> numbers = integerDecisions<Integer>(format);
  Kernel kernel(conversion(int64_t(numbers.size()), from, format.name));
  kernel.run<uint16_t>(numbers, [&](const std::vector<uint16_t> &rounded) {
    for (size_t i = 0; i < numbers.size(); ++i)
      ASSERT_EQ(rounded[i], nearest(format, numbers[i])) << numbers[i];
  });
}

template <typename Wide> void expectWidened(const Format &format, const char *to) {
  std::vector<uint16_t> all(kPatterns);
  for (int bits = 0; bits < kPatterns; ++bits)
    all[bits] = uint16_t(bits);
  Kernel kernel(conversion(kPatterns, format.name, to));
  kernel.run<Wide>(all, [&](const std::vector<Wide> &wide) {
    for (int bits = 0; bits < kPatterns; ++bits) {
      const uint16_t magnitude = bits & 0x7fff;
      ASSERT_EQ(std::isnan(wide[bits]), magnitude > format.infinity()) << bits;
      if (std::isnan(wide[bits]))
        continue;
      ASSERT_EQ(std::signbit(wide[bits]), bits != magnitude) << bits;
      if (magnitude == format.infinity())
        ASSERT_TRUE(std::isinf(wide[bits])) << bits;
      else
        ASSERT_EQ(double(std::abs(wide[bits])), format.magnitude(magnitude)) << bits;
    }
  });
}

/// Expects all bits as they were.
void expectMoved(const std::string &text) {
  std::vector<uint16_t> all(kPatterns);
  for (int bits = 0; bits < kPatterns; ++bits)
    all[bits] = uint16_t(bits);
  Kernel(text).run<uint16_t>(all, [&](const std::vector<uint16_t> &moved) {
    for (int bits = 0; bits < kPatterns; ++bits)
      ASSERT_EQ(moved[bits], bits);
  });
}

void expectAllFloatsRounded(const Format &format) {
  constexpr int64_t kCount = 1 << 20;
  Kernel kernel(conversion(kCount, "f32", format.name));
  std::vector<float> numbers(kCount);
  Rounding rounding(format);
  for (uint64_t first = 0; first < (uint64_t(1) << 32); first += kCount) {
    if (first == uint64_t(1) << 31)
      rounding = Rounding(format); // from minus zero on
    for (int64_t i = 0; i < kCount; ++i)
      numbers[i] = std::bit_cast<float>(uint32_t(first + i));
    std::vector<uint16_t> expected(kCount);
    for (int64_t i = 0; i < kCount; ++i)
      expected[i] = std::isnan(numbers[i]) ? quietNaN(format, numbers[i]) : rounding.nearest(numbers[i]);
    kernel.run<uint16_t>(
        numbers, [&](const std::vector<uint16_t> &rounded) { ASSERT_EQ(rounded, expected) << first; });
  }
}

} // namespace

TEST(Conversions, F32ToBf16) { expectRounded<float>(kBf16, "f32"); }
TEST(Conversions, F32ToF16) { expectRounded<float>(kF16, "f32"); }
/// Detects double rounding: intermediate f32 would round values near a midpoint to the midpoint.
TEST(Conversions, F64ToBf16) { expectRounded<double>(kBf16, "f64"); }
TEST(Conversions, F64ToF16) { expectRounded<double>(kF16, "f64"); }

TEST(Conversions, I32ToBf16) { expectIntegersRounded<int32_t>(kBf16, "i32"); }
TEST(Conversions, I32ToF16) { expectIntegersRounded<int32_t>(kF16, "i32"); }
TEST(Conversions, I64ToBf16) { expectIntegersRounded<int64_t>(kBf16, "i64"); }
TEST(Conversions, I64ToF16) { expectIntegersRounded<int64_t>(kF16, "i64"); }

TEST(Conversions, Bf16ToF32) { expectWidened<float>(kBf16, "f32"); }
TEST(Conversions, F16ToF32) { expectWidened<float>(kF16, "f32"); }
TEST(Conversions, Bf16ToF64) { expectWidened<double>(kBf16, "f64"); }
TEST(Conversions, F16ToF64) { expectWidened<double>(kF16, "f64"); }

TEST(Conversions, NaNsBecomeQuiet) {
  std::vector<float> numbers;
  for (uint32_t sign : {0U, 0x80000000U})
    for (uint32_t fraction = 1; fraction < 0x800000; fraction += 127)
      numbers.push_back(std::bit_cast<float>(sign | 0x7f800000 | fraction));
  for (const Format &format : {kBf16, kF16})
    Kernel(conversion(int64_t(numbers.size()), "f32", format.name))
        .run<uint16_t>(numbers, [&](const std::vector<uint16_t> &rounded) {
          for (size_t i = 0; i < numbers.size(); ++i)
            ASSERT_EQ(rounded[i], quietNaN(format, numbers[i])) << std::bit_cast<uint32_t>(numbers[i]);
        });
}

/// Loud NaNs too.
TEST(Conversions, MovesKeepBits) {
  for (const std::string type : {"bf16", "f16"}) {
    SCOPED_TRACE(type);
    expectMoved("func.func @f(%x: tensor<65536x" + type + ">) -> tensor<65536x" + type +
                "> {\n  %r = nn.slice %x dim 0 from 0 size 65536 : tensor<65536x" + type +
                ">\n  return %r : tensor<65536x" + type + ">\n}");
    expectMoved("func.func @f(%x: tensor<1x65536x" + type + ">) -> tensor<1x65536x" + type +
                "> {\n  %i = nn.constant 0.0 : tensor<1xi32>\n  %r = nn.gather %x at %i : tensor<1x65536x" +
                type + ">, tensor<1xi32>\n  return %r : tensor<1x65536x" + type + ">\n}");
  }
}

/// Half a minute a type (docs/measurements/2026-11-24-conversions.md).
TEST(Conversions, DISABLED_AllF32ToBf16) { expectAllFloatsRounded(kBf16); }
TEST(Conversions, DISABLED_AllF32ToF16) { expectAllFloatsRounded(kF16); }
