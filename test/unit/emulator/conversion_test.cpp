// cvt: every number of 16 bits, and boundary cases of other types.
#include "test/unit/emulator/kernel_runner.h"

#include "base/float8.h"
#include "base/small_float.h"

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace trainc::emulator {
namespace {

std::vector<uint16_t> all16() {
  std::vector<uint16_t> all(65536);
  std::iota(all.begin(), all.end(), uint16_t{0});
  return all;
}

template <typename T, typename F> void expectEach(const std::vector<T> &found, F expected) {
  ASSERT_EQ(found.size(), 65536U);
  for (size_t bits = 0; bits < found.size(); ++bits) {
    const T want = expected(static_cast<uint16_t>(bits));
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(want) && std::isnan(found[bits]))
        continue;
    ASSERT_EQ(std::memcmp(&found[bits], &want, sizeof(T)), 0) << "of bits " << bits;
  }
}

TEST(PtxConversion, WidensEveryHalf) {
  expectEach(evaluate<float>("cvt.f32.f16 %r9, %h0;", all16()),
             [](uint16_t bits) { return static_cast<float>(Float16{bits}); });
  expectEach(evaluate<float>("cvt.f32.bf16 %r9, %h0;", all16()),
             [](uint16_t bits) { return static_cast<float>(BFloat16{bits}); });
  expectEach(evaluate<double>("cvt.f64.f16 %x9, %h0;", all16()),
             [](uint16_t bits) { return static_cast<double>(Float16{bits}); });
}

TEST(PtxConversion, BringsEveryHalfBack) {
  const auto back = [](uint16_t infinity) {
    return [infinity](uint16_t bits) { return (bits & 0x7fff) > infinity ? uint16_t{0x7fff} : bits; };
  };
  expectEach(evaluate<uint16_t>("cvt.f32.f16 %r1, %h0; cvt.rn.f16.f32 %h9, %r1;", all16()), back(0x7c00));
  expectEach(evaluate<uint16_t>("cvt.f32.bf16 %r1, %h0; cvt.rn.bf16.f32 %h9, %r1;", all16()), back(0x7f80));
  expectEach(evaluate<uint16_t>("cvt.f64.f16 %x1, %h0; cvt.rn.f16.f64 %h9, %x1;", all16()), back(0x7c00));
}

TEST(PtxConversion, RoundsEveryHalfToWholeNumbers) {
  const auto whole = [](auto round, auto minimum, auto maximum) {
    return [=](uint16_t bits) {
      const float value = static_cast<float>(Float16{bits});
      using T = decltype(minimum);
      return std::isnan(value)
                 ? T{0}
                 : static_cast<T>(std::fmin(std::fmax(round(value), static_cast<float>(minimum)),
                                            static_cast<float>(maximum)));
    };
  };
  expectEach(evaluate<int16_t>("cvt.rzi.s16.f16 %h9, %h0;", all16()),
             whole([](float x) { return std::trunc(x); }, int16_t{-32768}, int16_t{32767}));
  expectEach(evaluate<uint16_t>("cvt.rni.u16.f16 %h9, %h0;", all16()),
             whole([](float x) { return std::nearbyint(x); }, uint16_t{0}, uint16_t{65535}));
  expectEach(evaluate<uint16_t>("cvt.rmi.u8.f16 %h9, %h0;", all16()), [&](uint16_t bits) {
    return uint16_t{whole([](float x) { return std::floor(x); }, uint8_t{0}, uint8_t{255})(bits)};
  });
  expectEach(evaluate<int32_t>("cvt.rpi.s32.f16 %r9, %h0;", all16()), [](uint16_t bits) {
    const float value = static_cast<float>(Float16{bits});
    return std::isnan(value)   ? 0
           : std::isinf(value) ? (value > 0 ? INT32_MAX : INT32_MIN)
                               : static_cast<int32_t>(std::ceil(value));
  });
}

TEST(PtxConversion, ConvertsEveryShortWholeNumber) {
  expectEach(evaluate<float>("cvt.rn.f32.s16 %r9, %h0;", all16()),
             [](uint16_t bits) { return static_cast<float>(static_cast<int16_t>(bits)); });
  expectEach(evaluate<uint16_t>("cvt.rn.f16.u16 %h9, %h0;", all16()),
             [](uint16_t bits) { return Float16::nearest(double{static_cast<double>(bits)}).bits; });
  expectEach(evaluate<uint16_t>("cvt.rn.bf16.s16 %h9, %h0;", all16()), [](uint16_t bits) {
    return BFloat16::nearest(static_cast<double>(static_cast<int16_t>(bits))).bits;
  });
  expectEach(evaluate<int32_t>("cvt.s32.s8 %r9, %h0;", all16()),
             [](uint16_t bits) { return int32_t{static_cast<int8_t>(bits)}; });
  expectEach(evaluate<uint32_t>("cvt.u32.u8 %r9, %h0;", all16()),
             [](uint16_t bits) { return uint32_t{static_cast<uint8_t>(bits)}; });
  expectEach(evaluate<int16_t>("cvt.sat.s8.s16 %h9, %h0;", all16()), [](uint16_t bits) {
    return static_cast<int16_t>(std::clamp<int>(static_cast<int16_t>(bits), -128, 127));
  });
  expectEach(evaluate<uint16_t>("cvt.sat.u16.s16 %h9, %h0;", all16()), [](uint16_t bits) {
    return static_cast<uint16_t>(std::max<int>(static_cast<int16_t>(bits), 0));
  });
}

TEST(PtxConversion, RoundsSinglesToHalvesInEveryWay) {
  // Around 1 in steps of an eighth of f16's last digit, of both signs.
  std::vector<float> values;
  for (int step = -20; step <= 20; ++step)
    for (const float sign : {1.0F, -1.0F})
      values.push_back(sign * (1 + static_cast<float>(step) * 0x1p-13F));
  values.insert(values.end(), {65504, 65519, 65520, -65536, 0x1p-24F, 0x1p-25F, 0x1.8p-25F, 1e-30F});
  const auto check = [&](const std::string &mode, auto round) {
    SCOPED_TRACE(mode);
    const std::vector<uint16_t> found = evaluate<uint16_t>("cvt." + mode + ".f16.f32 %h9, %r0;", values);
    for (size_t index = 0; index < values.size(); ++index) {
      const double value = values[index];
      const double unit = std::abs(value) < 1 ? (std::abs(value) < 0x1p-14 ? 0x1p-24 : 0x1p-11)
                                              : std::ldexp(1.0, std::ilogb(value) - 10);
      double expected = round(value / unit) * unit;
      if (mode == "rz" && std::abs(expected) > 65504)
        expected = std::copysign(65504, value);
      EXPECT_EQ(found[index], Float16::nearest(std::copysign(expected, value)).bits) << value;
    }
  };
  check("rn", [](double x) { return std::nearbyint(x); });
  check("rz", [](double x) { return std::trunc(x); });
}

template <typename Format> void expectFp8(const std::string &type) {
  const auto bytes = [](uint16_t pair) {
    return std::pair{static_cast<uint8_t>(pair >> 8), static_cast<uint8_t>(pair)};
  };
  const auto half = [](uint8_t byte) {
    const auto value = static_cast<double>(Format{byte});
    return uint32_t{std::isnan(value) ? uint16_t{0x7fff} : Float16::nearest(value).bits};
  };
  expectEach(evaluate<uint32_t>("cvt.rn.f16x2." + type + " %r9, %h0;", all16()), [&](uint16_t pair) {
    const auto [high, low] = bytes(pair);
    return half(high) << 16 | half(low);
  });
  const auto back = [](uint8_t byte) {
    const auto value = static_cast<double>(Format{byte});
    return uint16_t{Format::nearest(value).bits};
  };
  const auto pairBack = [&](uint16_t pair) {
    const auto [high, low] = bytes(pair);
    return static_cast<uint16_t>(back(high) << 8 | back(low));
  };
  expectEach(
      evaluate<uint16_t>("cvt.rn.f16x2." + type + " %r1, %h0; cvt.rn.satfinite." + type + ".f16x2 %h9, %r1;",
                         all16()),
      pairBack);
  // Every f16 converted through f32: values between those of fp8, and beyond the maximum.
  expectEach(evaluate<uint16_t>("cvt.f32.f16 %r1, %h0; neg.f32 %r2, %r1; cvt.rn.satfinite." + type +
                                    ".f32 %h9, %r1, %r2;",
                                all16()),
             [](uint16_t bits) {
               const auto value = static_cast<float>(Float16{bits});
               return static_cast<uint16_t>(Format::nearest(value).bits << 8 | Format::nearest(-value).bits);
             });
}

TEST(PtxConversion, HasPairsOfFp8) {
  expectFp8<Float8E4M3>("e4m3x2");
  expectFp8<Float8E5M2>("e5m2x2");
}

TEST(PtxConversion, PacksTheFirstOperandHigh) {
  const std::vector<float> a = {1.0F, std::nanf("")}, b = {-2.0F, 3.0F};
  EXPECT_EQ(evaluate<uint32_t>("cvt.rn.bf16x2.f32 %r9, %r0, %r1;", a, b),
            (std::vector<uint32_t>{0x3f80c000, 0x7fff4040}));
  EXPECT_EQ(evaluate<uint32_t>("cvt.rn.f16x2.f32 %r9, %r0, %r1;", a, b),
            (std::vector<uint32_t>{0x3c00c000, 0x7fff4200}));
  EXPECT_EQ(evaluate<uint32_t>("cvt.rn.relu.bf16x2.f32 %r9, %r0, %r1;", a, b),
            (std::vector<uint32_t>{0x3f800000, 0x7fff4040}));
}

TEST(PtxConversion, RoundsLongWholeNumbers) {
  const std::vector<int64_t> a = {0,
                                  1,
                                  -1,
                                  INT64_MAX,
                                  INT64_MIN,
                                  (int64_t{1} << 53) + 1,
                                  (int64_t{1} << 24) + 1,
                                  -((int64_t{1} << 25) + 3)};
  std::vector<float> singles;
  std::vector<double> doubles;
  for (const int64_t value : a) {
    singles.push_back(static_cast<float>(value));
    doubles.push_back(static_cast<double>(value));
  }
  EXPECT_EQ(evaluate<float>("cvt.rn.f32.s64 %r9, %x0;", a), singles);
  EXPECT_EQ(evaluate<double>("cvt.rn.f64.s64 %x9, %x0;", a), doubles);
  EXPECT_EQ(
      evaluate<float>("cvt.rz.f32.s64 %r9, %x0;", std::vector<int64_t>{(int64_t{1} << 24) + 1, INT64_MAX}),
      (std::vector<float>{0x1p24F, 0x1.fffffep62F}));
  EXPECT_EQ(evaluate<float>("cvt.rp.f32.u64 %r9, %x0;", std::vector<uint64_t>{UINT64_MAX}),
            (std::vector<float>{0x1p64F}));
}

TEST(PtxConversion, ClampsToWholeNumbers) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> a = {3e9F, -3e9F, infinity, -infinity, std::nanf(""), 2.5F, -2.5F, 2147483520.0F};
  EXPECT_EQ(evaluate<int32_t>("cvt.rzi.s32.f32 %r9, %r0;", a),
            (std::vector<int32_t>{INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, 0, 2, -2, 2147483520}));
  EXPECT_EQ(evaluate<uint32_t>("cvt.rni.u32.f32 %r9, %r0;", a),
            (std::vector<uint32_t>{3000000000U, 0, UINT32_MAX, 0, 0, 2, 0, 2147483520U}));
  EXPECT_EQ(
      evaluate<int64_t>("cvt.rzi.s64.f32 %x9, %r0;", a),
      (std::vector<int64_t>{3000000000, -3000000000, INT64_MAX, INT64_MIN, INT64_MIN, 2, -2, 2147483520}));
}

TEST(PtxConversion, RoundsInPlaceAndFlushes) {
  const std::vector<float> a = {2.5F, -0.5F, 1e20F, -2.5F};
  EXPECT_EQ(evaluate<float>("cvt.rni.f32.f32 %r9, %r0;", a), (std::vector<float>{2, -0.0F, 1e20F, -2}));
  EXPECT_EQ(evaluate<float>("cvt.rmi.f32.f32 %r9, %r0;", a), (std::vector<float>{2, -1, 1e20F, -3}));
  EXPECT_EQ(evaluate<float>("cvt.ftz.f32.f32 %r9, %r0;", std::vector<float>{1e-40F, 1e-30F}),
            (std::vector<float>{0, 1e-30F}));
  EXPECT_EQ(evaluate<float>("cvt.sat.f32.f32 %r9, %r0;", std::vector<float>{-1, 0.5F, 7}),
            (std::vector<float>{0, 0.5F, 1}));
  EXPECT_EQ(evaluate<float>("cvt.rn.f32.f64 %r9, %x0;", std::vector<double>{1 + 0x1p-24 + 0x1p-50}),
            (std::vector<float>{1 + 0x1p-23F}));
  EXPECT_EQ(evaluate<uint32_t>("cvt.rna.tf32.f32 %r9, %r0;", std::vector<float>{1 + 0x1p-11F, -1 - 0x1p-12F}),
            (std::vector<uint32_t>{0x3f802000, 0xbf800000}));
}

} // namespace
} // namespace trainc::emulator
