#include "base/small_float.h"

#include <gtest/gtest.h>
#include <limits>

namespace trainc {
namespace {

/// `kInfinity` are the bits of infinity; the largest finite number has the preceding bits.
template <typename Float> struct Traits;
template <> struct Traits<Float16> {
  static constexpr uint16_t kInfinity = 0x7c00;
};
template <> struct Traits<BFloat16> {
  static constexpr uint16_t kInfinity = 0x7f80;
};

constexpr double kBeyond = std::numeric_limits<double>::infinity();
constexpr uint16_t kSign = 0x8000;

template <typename Float> class SmallFloat : public testing::Test {
protected:
  static constexpr uint16_t kInfinity = Traits<Float>::kInfinity;

  static double number(unsigned bits) { return static_cast<double>(Float{static_cast<uint16_t>(bits)}); }
  /// Both signs of a number that is to become that of these bits.
  static void expect(double value, unsigned bits) {
    EXPECT_EQ(Float::nearest(value).bits, bits) << value;
    EXPECT_EQ(Float::nearest(-value).bits, bits | kSign) << -value;
  }
};

using Floats = testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(SmallFloat, Floats);

TYPED_TEST(SmallFloat, NumbersBecomeThemselves) {
  for (unsigned bits = 0; bits <= this->kInfinity; ++bits)
    this->expect(this->number(bits), bits);
}

/// Midpoints of all neighbours, including subnormal ones, and the doubles one bit away from them.
TYPED_TEST(SmallFloat, OthersBecomeTheNearest) {
  for (unsigned bits = 0; bits + 1 < this->kInfinity; ++bits) {
    const double middle = (this->number(bits) + this->number(bits + 1)) / 2;
    this->expect(middle, bits + bits % 2);
    this->expect(std::nextafter(middle, 0), bits);
    this->expect(std::nextafter(middle, kBeyond), bits + 1);
  }
}

TYPED_TEST(SmallFloat, NonFiniteNumbersHaveTheBitsOfTheMask) {
  for (unsigned bits = 0; bits < 0x10000; ++bits)
    ASSERT_EQ((bits & TypeParam::kNonFinite) == TypeParam::kNonFinite, !std::isfinite(this->number(bits)))
        << bits;
}

TYPED_TEST(SmallFloat, WhatIsTooLargeBecomesInfinite) {
  const double largest = this->number(this->kInfinity - 1U);
  const double limit = largest + (largest - this->number(this->kInfinity - 2U)) / 2;
  this->expect(std::nextafter(limit, 0), this->kInfinity - 1U);
  for (const double value :
       {limit, std::nextafter(limit, kBeyond), std::numeric_limits<double>::max(), kBeyond})
    this->expect(value, this->kInfinity);
}

TYPED_TEST(SmallFloat, TheSmallestBecomeZero) {
  this->expect(std::numeric_limits<double>::denorm_min(), 0);
  this->expect(std::numeric_limits<double>::min(), 0);
}

/// Rounding an f32 directly gives the same as rounding its value as a double: all exponents, and fractions
/// around the decisive ones.
TYPED_TEST(SmallFloat, TheNearestOfAnF32IsThatOfItsValue) {
  for (uint64_t bits = 0; bits <= 0xffffffffU; bits += 0x7ff)
    for (const uint64_t near : {bits, bits / 0x1000 * 0x1000, bits | 0xfff}) {
      const auto value = std::bit_cast<float>(static_cast<uint32_t>(near));
      ASSERT_EQ(TypeParam::nearest(value).bits, TypeParam::nearest(double{value}).bits) << near;
    }
}

TYPED_TEST(SmallFloat, NanStaysNan) {
  for (unsigned bits = this->kInfinity + 1U; bits <= 0x7fff; ++bits)
    for (const uint16_t sign : {uint16_t{0}, kSign}) {
      const TypeParam given{static_cast<uint16_t>(bits | sign)};
      const unsigned quiet = (this->kInfinity >> 1 & ~this->kInfinity & 0x7fffU);
      EXPECT_EQ(TypeParam::nearest(static_cast<double>(given)).bits, given.bits | quiet);
    }
  // A NaN whose upper bits are all zero would be infinity.
  const auto payload = std::bit_cast<double>(uint64_t{0x7ff0000000000001});
  EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam::nearest(payload))));
}

} // namespace
} // namespace trainc
