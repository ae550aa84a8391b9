// Floats: f32 and f64 are rounded as the host's, halves once from the exact value.
#include "test/unit/emulator/kernel_runner.h"

#include "base/small_float.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>

namespace trainc::emulator {
namespace {

/// All bits are equal, or both are not numbers.
template <typename T> void expectSame(const std::vector<T> &found, const std::vector<T> &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t index = 0; index < found.size(); ++index)
    if (std::isnan(expected[index]))
      EXPECT_TRUE(std::isnan(found[index])) << "at " << index;
    else
      EXPECT_EQ(std::memcmp(&found[index], &expected[index], sizeof(T)), 0)
          << "at " << index << ": " << found[index] << " for " << expected[index];
}

/// Special numbers and numbers of all sizes, paired.
template <typename T> struct FloatPairs {
  std::vector<T> a, b, c;
  FloatPairs() {
    using Limits = std::numeric_limits<T>;
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    std::mt19937_64 random(2);
    std::vector<T> values = {0,
                             -T{0},
                             1,
                             -1,
                             T(1.5),
                             Limits::min(),
                             Limits::denorm_min(),
                             -Limits::denorm_min(),
                             Limits::max(),
                             -Limits::max(),
                             Limits::infinity(),
                             -Limits::infinity(),
                             Limits::quiet_NaN(),
                             T(1) / 3};
    for (int count = 0; count < 24; ++count)
      values.push_back(std::bit_cast<T>(static_cast<Bits>(random())));
    for (int count = 0; count < 12; ++count)
      values.push_back(static_cast<T>(random()) / T(1e18) - 9);
    for (const T left : values)
      for (const T right : values) {
        a.push_back(left);
        b.push_back(right);
        c.push_back(values[random() % values.size()]);
      }
  }
  template <typename F> std::vector<T> map(F f) const {
    std::vector<T> results;
    for (size_t index = 0; index < a.size(); ++index)
      results.push_back(f(a[index], b[index], c[index]));
    return results;
  }
};

float flush(float value) { return std::abs(value) < 0x1p-126F ? std::copysign(0.0F, value) : value; }

TEST(PtxFloat, RoundsSinglesAsTheHost) {
  const FloatPairs<float> all;
  expectSame(evaluate<float>("add.rn.f32 %r9, %r0, %r1;", all.a, all.b),
             all.map([](float a, float b, float) { return a + b; }));
  expectSame(evaluate<float>("sub.f32 %r9, %r0, %r1;", all.a, all.b),
             all.map([](float a, float b, float) { return a - b; }));
  expectSame(evaluate<float>("mul.rn.f32 %r9, %r0, %r1;", all.a, all.b),
             all.map([](float a, float b, float) { return a * b; }));
  expectSame(evaluate<float>("fma.rn.f32 %r9, %r0, %r1, %r2;", all.a, all.b, all.c),
             all.map([](float a, float b, float c) { return std::fma(a, b, c); }));
  expectSame(evaluate<float>("div.rn.f32 %r9, %r0, %r1;", all.a, all.b),
             all.map([](float a, float b, float) { return a / b; }));
  expectSame(evaluate<float>("sqrt.rn.f32 %r9, %r0;", all.a),
             all.map([](float a, float, float) { return std::sqrt(a); }));
  expectSame(evaluate<float>("rcp.rn.f32 %r9, %r0;", all.a),
             all.map([](float a, float, float) { return 1 / a; }));
  expectSame(evaluate<float>("mul.rn.ftz.f32 %r9, %r0, %r1;", all.a, all.b),
             all.map([](float a, float b, float) { return flush(flush(a) * flush(b)); }));
  expectSame(evaluate<float>("add.rn.sat.f32 %r9, %r0, %r1;", all.a, all.b),
             all.map([](float a, float b, float) {
               return std::isnan(a + b) ? 0 : std::fmin(std::fmax(a + b, 0.0F), 1.0F) + 0.0F;
             }));
}

TEST(PtxFloat, GivesItsOwnNaN) {
  const std::vector<float> a = {std::numeric_limits<float>::infinity(), std::bit_cast<float>(0xffc01234U)};
  EXPECT_EQ(evaluate<uint32_t>("sub.f32 %r9, %r0, %r0;", a), (std::vector<uint32_t>{0x7fffffff, 0x7fffffff}));
}

/// By the host's own directed rounding.
template <typename F> std::vector<float> rounded(int mode, const FloatPairs<float> &all, F f) {
  std::vector<float> results;
  for (size_t index = 0; index < all.a.size(); ++index) {
    volatile float a = all.a[index], b = all.b[index], c = all.c[index];
    std::fesetround(mode);
    const float result = f(a, b, c);
    std::fesetround(FE_TONEAREST);
    results.push_back(result);
  }
  return results;
}

TEST(PtxFloat, RoundsSinglesInEveryDirection) {
  const FloatPairs<float> all;
  const std::pair<const char *, int> modes[] = {
      {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
  for (const auto &[name, mode] : modes) {
    SCOPED_TRACE(name);
    const std::string suffix = std::string(".") + name + ".f32 %r9, ";
    expectSame(
        evaluate<float>("mul" + suffix + "%r0, %r1;", all.a, all.b),
        rounded(mode, all, [](volatile float &a, volatile float &b, volatile float &) { return a * b; }));
    expectSame(
        evaluate<float>("div" + suffix + "%r0, %r1;", all.a, all.b),
        rounded(mode, all, [](volatile float &a, volatile float &b, volatile float &) { return a / b; }));
    expectSame(evaluate<float>("fma" + suffix + "%r0, %r1, %r2;", all.a, all.b, all.c),
               rounded(mode, all, [](volatile float &a, volatile float &b, volatile float &c) {
                 return std::fma(a, b, c);
               }));
  }
}

TEST(PtxFloat, RoundsDoublesAsTheHost) {
  const FloatPairs<double> all;
  expectSame(evaluate<double>("add.rn.f64 %x9, %x0, %x1;", all.a, all.b),
             all.map([](double a, double b, double) { return a + b; }));
  expectSame(evaluate<double>("fma.rn.f64 %x9, %x0, %x1, %x2;", all.a, all.b, all.c),
             all.map([](double a, double b, double c) { return std::fma(a, b, c); }));
  expectSame(evaluate<double>("div.rn.f64 %x9, %x0, 0d4008000000000000;", all.a),
             all.map([](double a, double, double) { return a / 3; }));
}

TEST(PtxFloat, ChoosesTheSmallerAndTheLarger) {
  const FloatPairs<float> all;
  const auto less = [](float a, float b) { return a < b || (a == b && std::signbit(a)); };
  expectSame(evaluate<float>("min.f32 %r9, %r0, %r1;", all.a, all.b), all.map([&](float a, float b, float) {
    return std::isnan(a) ? b : std::isnan(b) ? a : less(a, b) ? a : b;
  }));
  expectSame(evaluate<float>("max.f32 %r9, %r0, %r1;", all.a, all.b), all.map([&](float a, float b, float) {
    return std::isnan(a) ? b : std::isnan(b) ? a : less(a, b) ? b : a;
  }));
  expectSame(evaluate<float>("max.NaN.f32 %r9, %r0, %r1;", all.a, all.b),
             all.map([&](float a, float b, float) {
               return std::isnan(a) || std::isnan(b) ? std::nanf("") : less(a, b) ? b : a;
             }));
  expectSame(evaluate<float>("copysign.f32 %r9, %r0, %r1;", all.a, all.b),
             all.map([](float a, float b, float) { return std::copysign(b, a); }));
  expectSame(evaluate<float>("neg.f32 %r2, %r0; abs.f32 %r3, %r1; add.f32 %r9, %r2, %r3;", all.a, all.b),
             all.map([](float a, float b, float) { return -a + std::abs(b); }));
}

TEST(PtxFloat, ComparesOrderedAndUnordered) {
  const FloatPairs<float> all;
  const auto check = [&](const std::string &comparison, auto holds) {
    SCOPED_TRACE(comparison);
    expectSame(evaluate<float>("setp." + comparison +
                                   ".f32 %p1, %r0, %r1; selp.f32 %r9, 0f3F800000, 0f00000000, %p1;",
                               all.a, all.b),
               all.map([&](float a, float b, float) { return holds(a, b) ? 1.0F : 0.0F; }));
  };
  check("lt", [](float a, float b) { return a < b; });
  check("ne", [](float a, float b) { return a < b || a > b; });
  check("geu", [](float a, float b) { return !(a < b); });
  check("neu", [](float a, float b) { return a != b; });
  check("num", [](float a, float b) { return !std::isnan(a) && !std::isnan(b); });
  check("nan", [](float a, float b) { return std::isnan(a) || std::isnan(b); });
  check("lt.ftz", [](float a, float b) { return flush(a) < flush(b); });
}

TEST(PtxFloat, ApproximatesByTheNearestNumber) {
  std::vector<float> a;
  for (int index = -200; index < 200; ++index)
    a.push_back(static_cast<float>(index) * 0.37F);
  const auto check = [&](const std::string &name, auto exact) {
    SCOPED_TRACE(name);
    std::vector<float> expected;
    for (const float value : a)
      expected.push_back(static_cast<float>(exact(static_cast<double>(value))));
    expectSame(evaluate<float>(name + ".f32 %r9, %r0;", a), expected);
  };
  check("ex2.approx", [](double x) { return std::exp2(x); });
  check("lg2.approx", [](double x) { return std::log2(x); });
  check("sin.approx", [](double x) { return std::sin(x); });
  check("cos.approx", [](double x) { return std::cos(x); });
  check("tanh.approx", [](double x) { return std::tanh(x); });
  check("rsqrt.approx", [](double x) { return 1 / std::sqrt(x); });
  check("rcp.approx", [](double x) { return 1 / x; });
  check("ex2.approx.ftz", [](double x) { return flush(static_cast<float>(std::exp2(x))); });
}

/// A half as the exact number; nearest by comparing with both neighbours, in wide arithmetic.
template <typename Half> uint16_t nearest(long double exact) {
  if (std::isnan(exact))
    return 0x7fff;
  const auto valueOf = [](uint16_t bits) { return static_cast<long double>(static_cast<float>(Half{bits})); };
  const uint16_t infinity = std::is_same_v<Half, Float16> ? 0x7c00 : 0x7f80;
  const uint16_t sign = std::signbit(exact) ? 0x8000 : 0;
  const long double magnitude = std::abs(exact);
  uint16_t low = 0, high = infinity; // low <= magnitude < high
  while (high - low > 1)
    (valueOf(static_cast<uint16_t>((low + high) / 2)) <= magnitude ? low : high) =
        static_cast<uint16_t>((low + high) / 2);
  if (magnitude >= valueOf(infinity))
    return sign | infinity;
  // Beyond the largest number, continue with the last step size.
  const long double above =
      high == infinity ? 2 * valueOf(low) - valueOf(static_cast<uint16_t>(low - 1)) : valueOf(high);
  const long double fromLow = magnitude - valueOf(low), fromHigh = above - magnitude;
  const bool isLow = fromLow < fromHigh || (fromLow == fromHigh && low % 2 == 0);
  return static_cast<uint16_t>(sign | (isLow ? low : high));
}

template <typename Half> void checkHalves(const std::string &type) {
  std::mt19937 random(3);
  std::vector<uint16_t> a, b, c;
  for (int count = 0; count < 20000; ++count) {
    a.push_back(static_cast<uint16_t>(random()));
    // Near each other, so that sums cancel and round.
    b.push_back(static_cast<uint16_t>(count % 2 == 0 ? random() : a.back() ^ (random() & 0x83ffU)));
    c.push_back(static_cast<uint16_t>(count % 3 == 0 ? random() : a.back() + random() % 4096));
  }
  const auto check = [&](const std::string &name, auto exact) {
    SCOPED_TRACE(name);
    const std::vector<uint16_t> found =
        evaluate<uint16_t>(name + " %h9, %h0, %h1" + (name.starts_with("fma") ? ", %h2;" : ";"), a, b, c);
    for (size_t index = 0; index < found.size(); ++index) {
      const auto of = [&](const std::vector<uint16_t> &values) {
        return static_cast<long double>(static_cast<float>(Half{values[index]}));
      };
      const uint16_t expected = nearest<Half>(exact(of(a), of(b), of(c)));
      EXPECT_EQ(found[index], expected) << a[index] << " " << b[index] << " " << c[index];
    }
  };
  check("add." + type, [](long double x, long double y, long double) { return x + y; });
  check("mul." + type, [](long double x, long double y, long double) { return x * y; });
  // A quotient of long doubles has digits enough for f16; of bf16 the sum may not.
  if (type == "f16")
    check("fma.rn." + type, [](long double x, long double y, long double z) { return x * y + z; });
}

TEST(PtxFloat, RoundsHalvesOnce) { checkHalves<Float16>("f16"); }
TEST(PtxFloat, RoundsBrainFloatsOnce) { checkHalves<BFloat16>("bf16"); }

TEST(PtxFloat, RoundsAHalfwayCaseByWhatIsFarBelow) {
  // 1 + 2^-9 lies between two bf16 numbers; 2^-100 decides. 0x3f80 is 1, 0x3b00 is 2^-9, 0x0d80 is 2^-100.
  const std::vector<uint16_t> one = {0x3f80, 0x3f80}, product = {0x3b80, 0x3b80}, tiny = {0x0d80, 0x8d80};
  EXPECT_EQ(evaluate<uint16_t>("fma.rn.bf16 %h3, %h1, %h0, %h0; fma.rn.bf16 %h9, %h3, %h0, %h2;", one,
                               product, tiny),
            (std::vector<uint16_t>{0x3f80, 0x3f80}));
  // fma: 2^-8 * 1 + 1 is a tie with an even lower neighbour; a product that is a bit larger rounds up.
  const std::vector<uint16_t> larger = {0x3b81, 0x3b80};
  EXPECT_EQ(
      evaluate<uint16_t>("fma.rn.bf16 %h9, %h1, %h0, %h0;", std::vector<uint16_t>{0x3f80, 0x3f80}, larger),
      (std::vector<uint16_t>{0x3f81, 0x3f80}));
}

TEST(PtxFloat, PacksTwoHalves) {
  const std::vector<uint32_t> a = {0x3c004000, 0xc0003c00},
                              b = {0x40003c00, 0x3c003c00}; // (2, 1), (1, -2); (1, 2), (1, 1)
  EXPECT_EQ(evaluate<uint32_t>("add.f16x2 %r9, %r0, %r1;", a, b),
            (std::vector<uint32_t>{0x42004200, 0xbc004000}));
  EXPECT_EQ(evaluate<uint32_t>("max.f16x2 %r9, %r0, %r1;", a, b),
            (std::vector<uint32_t>{0x40004000, 0x3c003c00}));
  EXPECT_EQ(evaluate<uint32_t>("neg.f16x2 %r9, %r0;", a), (std::vector<uint32_t>{0xbc00c000, 0x4000bc00}));
  EXPECT_EQ(evaluate<uint32_t>(
                "setp.lt.f16x2 %p1|%p2, %r0, %r1; selp.b32 %r2, 1, 0, %p1; selp.b32 %r9, 2, %r2, %p2;", a, b),
            (std::vector<uint32_t>{2, 2}));
  const std::vector<uint32_t> c = {0x3f804000}; // (2, 1) in bf16
  EXPECT_EQ(evaluate<uint32_t>("fma.rn.bf16x2 %r9, %r0, %r0, %r0;", c), (std::vector<uint32_t>{0x400040c0}));
}

} // namespace
} // namespace trainc::emulator
