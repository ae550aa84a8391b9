#include "runtime/data/formats/columns.h"

#include "test/unit/runtime/data/support.h"

#include <cmath>
#include <limits>

namespace trainc {
namespace {

using namespace test;

/// Converts `values` of dtype `from` as a column `spec` does; empty where a value is not allowed.
template <typename To, typename From>
std::vector<To> convert(SafetensorsDType from, const std::vector<From> &values, const ColumnSpec &spec) {
  std::vector<To> result(values.size());
  const size_t good =
      findConversion(from, spec.dtype)(reinterpret_cast<const std::byte *>(values.data()), values.size(),
                                       reinterpret_cast<std::byte *>(result.data()), integerBounds(spec));
  result.resize(good == values.size() ? good : 0);
  return result;
}

template <typename T> std::optional<size_t> nonFiniteOf(fb::DType dtype, const std::vector<T> &values) {
  return findNonFinite(dtype, std::as_bytes(std::span(values)));
}

TEST(ElementConvert, FindsWhatIsNoNumber) {
  const float nan = std::nanf(""), infinite = std::numeric_limits<float>::infinity();
  EXPECT_EQ(nonFiniteOf<float>(fb::DType::F32, {1, -0.0F, 3e38F}), std::nullopt);
  EXPECT_EQ(nonFiniteOf<float>(fb::DType::F32, {1, nan, nan}), 1);
  EXPECT_EQ(nonFiniteOf<float>(fb::DType::F32, {-infinite}), 0);
  EXPECT_EQ(nonFiniteOf<double>(fb::DType::F64, {1e308, 0, nan}), 2);
  EXPECT_EQ(nonFiniteOf<uint16_t>(fb::DType::F16, {0x7bff, 0xfc00}), 1);
  EXPECT_EQ(nonFiniteOf<uint16_t>(fb::DType::BF16, {0x7c00, 0x7f80}), 1);
  EXPECT_EQ(nonFiniteOf<int32_t>(fb::DType::I32, {0x7fffffff}), std::nullopt);
}

TEST(ElementConvert, WidensAndNarrowsIntegers) {
  const ColumnSpec i32{"x", fb::DType::I32, {}};
  EXPECT_THAT((convert<int32_t, int8_t>(SafetensorsDType::kI8, {-1, 5}, i32)), testing::ElementsAre(-1, 5));
  EXPECT_THAT((convert<int32_t, uint8_t>(SafetensorsDType::kBool, {0, 1}, i32)), testing::ElementsAre(0, 1));
  EXPECT_THAT((convert<int32_t, int16_t>(SafetensorsDType::kI16, {-300}, i32)), testing::ElementsAre(-300));
  EXPECT_THAT((convert<int32_t, uint32_t>(SafetensorsDType::kU32, {7}, i32)), testing::ElementsAre(7));
  EXPECT_THAT((convert<int32_t, uint32_t>(SafetensorsDType::kU32, {1U << 31}, i32)), testing::IsEmpty());
  const ColumnSpec u8{"x", fb::DType::U8, {}};
  EXPECT_THAT((convert<uint8_t, int64_t>(SafetensorsDType::kI64, {255}, u8)), testing::ElementsAre(255));
  EXPECT_THAT((convert<uint8_t, int64_t>(SafetensorsDType::kI64, {256}, u8)), testing::IsEmpty());
  EXPECT_THAT((convert<uint8_t, int64_t>(SafetensorsDType::kI64, {-1}, u8)), testing::IsEmpty());
}

TEST(ElementConvert, LimitsAndIgnoredValues) {
  const ColumnSpec spec{"labels", fb::DType::I64, {}, 10, -100};
  EXPECT_THAT((convert<int64_t, int32_t>(SafetensorsDType::kI32, {0, 9, -100}, spec)),
              testing::ElementsAre(0, 9, -100));
  EXPECT_THAT((convert<int64_t, int32_t>(SafetensorsDType::kI32, {10}, spec)), testing::IsEmpty());
  EXPECT_THAT((convert<int64_t, int32_t>(SafetensorsDType::kI32, {-1}, spec)), testing::IsEmpty());
  EXPECT_FALSE(integerBounds({"tokens", fb::DType::I32, {}, 10, -1}).ignores);
  EXPECT_FALSE(integerBounds({"labels", fb::DType::U8, {}, 10, -1}).ignores);
}

TEST(ElementConvert, FindsTheFirstBadValue) {
  const std::vector<int32_t> values = {1, 2, 30, 40};
  std::vector<int32_t> result(4);
  EXPECT_EQ(findConversion(SafetensorsDType::kI32, fb::DType::I32)(
                reinterpret_cast<const std::byte *>(values.data()), 4,
                reinterpret_cast<std::byte *>(result.data()), integerBounds({"x", fb::DType::I32, {}, 10})),
            2U);
}

TEST(ElementConvert, HalfPrecisionFloats) {
  const ColumnSpec f32{"x", fb::DType::F32, {}};
  // 1, -2, the largest (65504), the smallest normal 2^-14, the largest subnormal, the smallest 2^-24, -0,
  // infinity, NaN
  const std::vector<uint16_t> halves = {0x3c00, 0xc000, 0x7bff, 0x0400, 0x03ff,
                                        0x0001, 0x8000, 0x7c00, 0x7e01};
  const auto floats = convert<float>(SafetensorsDType::kF16, halves, f32);
  ASSERT_EQ(floats.size(), 9U);
  EXPECT_EQ(floats[0], 1.0F);
  EXPECT_EQ(floats[1], -2.0F);
  EXPECT_EQ(floats[2], 65504.0F);
  EXPECT_EQ(floats[3], std::ldexp(1.0F, -14));
  EXPECT_EQ(floats[4], std::ldexp(1023.0F, -24));
  EXPECT_EQ(floats[5], std::ldexp(1.0F, -24));
  EXPECT_TRUE(floats[6] == 0 && std::signbit(floats[6]));
  EXPECT_EQ(floats[7], std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(floats[8]));
  EXPECT_THAT((convert<float, double>(SafetensorsDType::kF64, {0.5}, f32)), testing::ElementsAre(0.5F));
  EXPECT_THAT((convert<uint16_t, uint16_t>(SafetensorsDType::kBF16, {0x1234}, {"x", fb::DType::BF16, {}})),
              testing::ElementsAre(0x1234));
  EXPECT_THAT((convert<uint16_t, uint16_t>(SafetensorsDType::kF16, {0x1234}, {"x", fb::DType::F16, {}})),
              testing::ElementsAre(0x1234));
}

TEST(ElementConvert, RefusesOtherPairs) {
  EXPECT_EQ(findConversion(SafetensorsDType::kF32, fb::DType::I32), nullptr);
  EXPECT_EQ(findConversion(SafetensorsDType::kU8, fb::DType::F32), nullptr);
  EXPECT_EQ(findConversion(SafetensorsDType::kF32, fb::DType::BF16), nullptr);
  EXPECT_EQ(findConversion(SafetensorsDType::kF8E4M3, fb::DType::F32), nullptr);
}

} // namespace
} // namespace trainc
