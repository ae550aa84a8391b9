#include "base/float8.h"

#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace trainc {
namespace {

/// Numbers of a format by definition: powers of two from the smallest number on, each binade in equal steps.
template <typename Float> struct Traits;
template <> struct Traits<Float8E4M3> {
  static constexpr double kSmallest = 0x1p-9, kLargest = 448;
  static constexpr int kSteps = 8; ///< of a binade
  static constexpr uint8_t kLast = 0x7e;
};
template <> struct Traits<Float8E5M2> {
  static constexpr double kSmallest = 0x1p-16, kLargest = 57344;
  static constexpr int kSteps = 4;
  static constexpr uint8_t kLast = 0x7b;
};

constexpr double kFar = std::numeric_limits<double>::infinity();

template <typename Float> class Fp8 : public testing::Test {
protected:
  using Format = Traits<Float>;

  static double number(unsigned bits) { return static_cast<double>(Float{static_cast<uint8_t>(bits)}); }
  /// Both signs of a number that is to become that of these bits.
  static void expect(double value, unsigned bits) {
    EXPECT_EQ(Float::nearest(value).bits, bits) << value;
    EXPECT_EQ(Float::nearest(-value).bits, bits | 0x80) << -value;
  }
};

using Formats = testing::Types<Float8E4M3, Float8E5M2>;
TYPED_TEST_SUITE(Fp8, Formats);

TYPED_TEST(Fp8, NonFiniteNumbersHaveTheBitsOfTheMask) {
  for (unsigned bits = 0; bits < 0x100; ++bits)
    ASSERT_EQ((bits & TypeParam::kNonFinite) == TypeParam::kNonFinite, !std::isfinite(this->number(bits)))
        << bits;
}

TYPED_TEST(Fp8, NumbersFollowEachOtherInTheFormatsSteps) {
  using Format = Traits<TypeParam>;
  double expected = 0, step = Format::kSmallest;
  for (unsigned bits = 0; bits <= Format::kLast; ++bits, expected += step) {
    EXPECT_EQ(this->number(bits), expected);
    EXPECT_EQ(this->number(bits | 0x80), -expected);
    EXPECT_EQ(std::signbit(this->number(bits | 0x80)), true);
    if (bits >= 2 * Format::kSteps && bits % Format::kSteps == 0)
      step *= 2;
  }
  EXPECT_EQ(this->number(Format::kLast), Format::kLargest);
}

TYPED_TEST(Fp8, NumbersBecomeThemselves) {
  for (unsigned bits = 0; bits <= Traits<TypeParam>::kLast; ++bits)
    this->expect(this->number(bits), bits);
}

/// Midpoints of all neighbours, and the doubles one bit away from them.
TYPED_TEST(Fp8, OthersBecomeTheNearest) {
  for (unsigned bits = 0; bits < Traits<TypeParam>::kLast; ++bits) {
    const double middle = (this->number(bits) + this->number(bits + 1)) / 2;
    this->expect(middle, bits + bits % 2);
    this->expect(std::nextafter(middle, 0), bits);
    this->expect(std::nextafter(middle, kFar), bits + 1);
  }
}

TYPED_TEST(Fp8, WhatIsTooLargeBecomesTheLargest) {
  using Format = Traits<TypeParam>;
  for (const double value : {std::nextafter(Format::kLargest, kFar), 2 * Format::kLargest, kFar})
    this->expect(value, Format::kLast);
}

TYPED_TEST(Fp8, NanStaysNan) {
  EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam::nearest(NAN))));
  EXPECT_TRUE(std::isnan(this->number(0x7f)));
  EXPECT_TRUE(std::isnan(this->number(0xff)));
}

TEST(Fp8Formats, OnlyE5M2HasAnInfinity) {
  EXPECT_EQ(static_cast<double>(Float8E5M2{0xfc}), -kFar);
  EXPECT_TRUE(std::isnan(static_cast<double>(Float8E5M2{0x7d})));
}

} // namespace
} // namespace trainc
