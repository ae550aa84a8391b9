// Integers and bits, compared with the host.
#include "test/unit/emulator/kernel_runner.h"

#include <bit>
#include <limits>
#include <random>

namespace trainc::emulator {
namespace {

/// All pairs of boundary values, and some others.
template <typename T> struct Pairs {
  std::vector<T> a, b;
  Pairs() {
    std::mt19937_64 random(1);
    std::vector<T> values = {0,
                             1,
                             2,
                             7,
                             static_cast<T>(-1),
                             static_cast<T>(-2),
                             std::numeric_limits<T>::min(),
                             std::numeric_limits<T>::max(),
                             static_cast<T>(std::numeric_limits<T>::max() - 1)};
    for (int count = 0; count < 24; ++count)
      values.push_back(static_cast<T>(random() >> random() % 60));
    for (const T left : values)
      for (const T right : values) {
        a.push_back(left);
        b.push_back(right);
      }
  }
  template <typename F> auto map(F f) const {
    std::vector<decltype(f(a[0], b[0]))> results;
    for (size_t index = 0; index < a.size(); ++index)
      results.push_back(f(a[index], b[index]));
    return results;
  }
};

TEST(PtxInteger, AddsSubtractsAndMultipliesModuloTheWidth) {
  const Pairs<uint32_t> words;
  EXPECT_EQ(evaluate<uint32_t>("add.s32 %r9, %r0, %r1;", words.a, words.b),
            words.map([](auto a, auto b) { return a + b; }));
  EXPECT_EQ(evaluate<uint32_t>("sub.u32 %r9, %r0, %r1;", words.a, words.b),
            words.map([](auto a, auto b) { return a - b; }));
  EXPECT_EQ(evaluate<uint32_t>("mul.lo.s32 %r9, %r0, %r1;", words.a, words.b),
            words.map([](auto a, auto b) { return a * b; }));
  const Pairs<uint64_t> longs;
  EXPECT_EQ(evaluate<uint64_t>("add.s64 %x9, %x0, %x1;", longs.a, longs.b),
            longs.map([](auto a, auto b) { return a + b; }));
  EXPECT_EQ(evaluate<uint64_t>("mul.lo.s64 %x9, %x0, %x1;", longs.a, longs.b),
            longs.map([](auto a, auto b) { return a * b; }));
  EXPECT_EQ(evaluate<uint64_t>("mul.hi.u64 %x9, %x0, %x1;", longs.a, longs.b), longs.map([](auto a, auto b) {
    return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
  }));
  const Pairs<uint16_t> halves;
  EXPECT_EQ(evaluate<uint16_t>("add.s16 %h9, %h0, %h1;", halves.a, halves.b),
            halves.map([](auto a, auto b) { return static_cast<uint16_t>(a + b); }));
  EXPECT_EQ(evaluate<uint32_t>("mul.wide.u16 %r9, %h0, %h1;", halves.a, halves.b),
            halves.map([](auto a, auto b) { return uint32_t{a} * b; }));
}

TEST(PtxInteger, KnowsSigns) {
  const Pairs<int32_t> words;
  EXPECT_EQ(evaluate<int32_t>("mul.hi.s32 %r9, %r0, %r1;", words.a, words.b),
            words.map([](auto a, auto b) { return static_cast<int32_t>(int64_t{a} * b >> 32); }));
  EXPECT_EQ(evaluate<int64_t>("mul.wide.s32 %x9, %r0, %r1;", words.a, words.b),
            words.map([](auto a, auto b) { return int64_t{a} * b; }));
  EXPECT_EQ(evaluate<int32_t>("min.s32 %r9, %r0, %r1;", words.a, words.b),
            words.map([](auto a, auto b) { return std::min(a, b); }));
  EXPECT_EQ(evaluate<uint32_t>("max.u32 %r9, %r0, %r1;", words.a, words.b), words.map([](auto a, auto b) {
    return std::max(static_cast<uint32_t>(a), static_cast<uint32_t>(b));
  }));
  EXPECT_EQ(evaluate<int32_t>("add.sat.s32 %r9, %r0, %r1;", words.a, words.b), words.map([](auto a, auto b) {
    return static_cast<int32_t>(std::clamp<int64_t>(int64_t{a} + b, INT32_MIN, INT32_MAX));
  }));
  EXPECT_EQ(evaluate<int32_t>("abs.s32 %r9, %r0;", words.a),
            words.map([](auto a, auto) { return a == INT32_MIN ? a : std::abs(a); }));
  EXPECT_EQ(evaluate<int64_t>("mad.wide.s32 %x9, %r0, %r1, 5;", words.a, words.b),
            words.map([](auto a, auto b) { return int64_t{a} * b + 5; }));
}

TEST(PtxInteger, Divides) {
  const Pairs<int32_t> words;
  EXPECT_EQ(evaluate<int32_t>("div.s32 %r9, %r0, %r1;", words.a, words.b),
            words.map([](auto a, auto b) { return b == 0 ? -1 : static_cast<int32_t>(int64_t{a} / b); }));
  EXPECT_EQ(evaluate<int32_t>("rem.s32 %r9, %r0, %r1;", words.a, words.b),
            words.map([](auto a, auto b) { return b == 0 ? a : static_cast<int32_t>(int64_t{a} % b); }));
  const Pairs<uint64_t> longs;
  EXPECT_EQ(evaluate<uint64_t>("div.u64 %x9, %x0, %x1;", longs.a, longs.b),
            longs.map([](auto a, auto b) { return b == 0 ? ~uint64_t{0} : a / b; }));
}

TEST(PtxInteger, CarriesFromWordToWord) {
  const Pairs<uint64_t> longs;
  const std::string split = "mov.b64 {%r0, %r1}, %x0; mov.b64 {%r2, %r3}, %x1;",
                    join = "mov.b64 %x9, {%r4, %r5};";
  EXPECT_EQ(evaluate<uint64_t>(split + "add.cc.u32 %r4, %r0, %r2; addc.u32 %r5, %r1, %r3;" + join, longs.a,
                               longs.b),
            longs.map([](auto a, auto b) { return a + b; }));
  EXPECT_EQ(evaluate<uint64_t>(split + "sub.cc.u32 %r4, %r0, %r2; subc.u32 %r5, %r1, %r3;" + join, longs.a,
                               longs.b),
            longs.map([](auto a, auto b) { return a - b; }));
  // The upper word of a product of two words by one, and a third.
  EXPECT_EQ(evaluate<uint64_t>(split +
                                   "mad.lo.cc.u32 %r6, %r0, %r2, %r3; madc.hi.cc.u32 %r4, %r0, %r2, 0; "
                                   "mov.b32 %r7, 0; addc.u32 %r7, %r7, 0;"
                                   "mad.lo.cc.u32 %r4, %r1, %r2, %r4; madc.hi.u32 %r5, %r1, %r2, %r7;" +
                                   join,
                               longs.a, longs.b),
            longs.map([](auto a, auto b) {
              return static_cast<uint64_t>(
                  (static_cast<unsigned __int128>(a) * static_cast<uint32_t>(b) + (b >> 32)) >> 32);
            }));
  EXPECT_EQ(evaluate<uint64_t>("add.cc.s64 %x2, %x0, %x1; addc.s64 %x9, 0, 0;", longs.a, longs.b),
            longs.map([](auto a, auto b) { return uint64_t{a + b < a}; }));
}

TEST(PtxInteger, ShiftsByAnyAmount) {
  const Pairs<uint32_t> words;
  EXPECT_EQ(evaluate<uint32_t>("shl.b32 %r9, %r0, %r1;", words.a, words.b),
            words.map([](auto a, auto b) { return b > 31 ? 0 : a << b; }));
  EXPECT_EQ(evaluate<uint32_t>("shr.u32 %r9, %r0, %r1;", words.a, words.b),
            words.map([](auto a, auto b) { return b > 31 ? 0 : a >> b; }));
  EXPECT_EQ(evaluate<uint32_t>("shr.s32 %r9, %r0, %r1;", words.a, words.b), words.map([](auto a, auto b) {
    return static_cast<uint32_t>(static_cast<int32_t>(a) >> std::min(b, 31U));
  }));
  EXPECT_EQ(evaluate<uint32_t>("shf.l.wrap.b32 %r9, %r0, %r0, %r1;", words.a, words.b),
            words.map([](auto a, auto b) { return std::rotl(a, static_cast<int>(b & 31)); }));
  EXPECT_EQ(evaluate<uint32_t>("shf.r.clamp.b32 %r9, %r0, 5, %r1;", words.a, words.b),
            words.map([](auto a, auto b) {
              return static_cast<uint32_t>((uint64_t{5} << 32 | a) >> std::min(b, 32U));
            }));
}

TEST(PtxInteger, CountsAndReversesBits) {
  const Pairs<uint32_t> words;
  EXPECT_EQ(evaluate<uint32_t>("popc.b32 %r9, %r0;", words.a),
            words.map([](auto a, auto) { return static_cast<uint32_t>(std::popcount(a)); }));
  EXPECT_EQ(evaluate<uint32_t>("clz.b32 %r9, %r0;", words.a),
            words.map([](auto a, auto) { return static_cast<uint32_t>(std::countl_zero(a)); }));
  EXPECT_EQ(evaluate<uint32_t>("brev.b32 %r9, %r0;", words.a), words.map([](auto a, auto) {
    uint32_t reversed = 0;
    for (int bit = 0; bit < 32; ++bit)
      reversed |= (a >> bit & 1) << (31 - bit);
    return reversed;
  }));
  EXPECT_EQ(evaluate<uint32_t>("bfind.u32 %r9, %r0;", words.a), words.map([](auto a, auto) {
    return a == 0 ? ~0U : 31U - static_cast<uint32_t>(std::countl_zero(a));
  }));
}

TEST(PtxInteger, ExtractsAndInsertsFields) {
  const Pairs<uint32_t> words;
  EXPECT_EQ(evaluate<uint32_t>("bfe.u32 %r9, %r0, 5, 9;", words.a),
            words.map([](auto a, auto) { return a >> 5 & 511; }));
  EXPECT_EQ(evaluate<uint32_t>("bfe.s32 %r9, %r0, 5, 9;", words.a), words.map([](auto a, auto) {
    return static_cast<uint32_t>(static_cast<int32_t>(a << 18) >> 23);
  }));
  EXPECT_EQ(evaluate<uint32_t>("bfe.s32 %r9, %r0, 28, 9;", words.a),
            words.map([](auto a, auto) { return static_cast<uint32_t>(static_cast<int32_t>(a) >> 28); }));
  EXPECT_EQ(evaluate<uint32_t>("bfi.b32 %r9, %r0, %r1, 4, 8;", words.a, words.b),
            words.map([](auto a, auto b) { return (b & ~0xff0U) | (a & 0xff) << 4; }));
}

TEST(PtxInteger, PermutesBytesAndLooksUpBits) {
  const Pairs<uint32_t> words;
  EXPECT_EQ(evaluate<uint32_t>("prmt.b32 %r9, %r0, 0, 0x123U;", words.a),
            words.map([](auto a, auto) { return __builtin_bswap32(a); }));
  EXPECT_EQ(evaluate<uint32_t>("prmt.b32 %r9, %r0, %r1, 0x7632U;", words.a, words.b),
            words.map([](auto a, auto b) { return (b & 0xffff0000U) | a >> 16; }));
  EXPECT_EQ(evaluate<uint32_t>("prmt.b32 %r9, %r0, 0, 0x8880;", words.a), words.map([](auto a, auto) {
    return static_cast<uint32_t>(a & 0xff) | ((a & 0x80) != 0 ? 0xffffff00U : 0);
  }));
  EXPECT_EQ(evaluate<uint32_t>("lop3.b32 %r9, %r0, %r1, 0x0ff0, 0x96;", words.a, words.b),
            words.map([](auto a, auto b) { return a ^ b ^ 0x0ff0; }));
  EXPECT_EQ(evaluate<uint32_t>("lop3.b32 %r9, %r0, %r1, 0x0ff0, 0xca;", words.a, words.b),
            words.map([](auto a, auto b) { return (a & b) | (~a & 0x0ff0); }));
  EXPECT_EQ(evaluate<uint32_t>("mov.b32 {%h1, %h2}, %r0; mov.b32 %r9, {%h2, %h1};", words.a),
            words.map([](auto a, auto) { return std::rotl(a, 16); }));
}

TEST(PtxInteger, ComparesAndSelects) {
  const Pairs<int32_t> words;
  EXPECT_EQ(evaluate<int32_t>("setp.lt.s32 %p1, %r0, %r1; selp.b32 %r9, 1, 2, %p1;", words.a, words.b),
            words.map([](auto a, auto b) { return a < b ? 1 : 2; }));
  EXPECT_EQ(
      evaluate<int32_t>("setp.hs.u32 %p1, %r0, %r1; selp.b32 %r9, 1, 2, %p1;", words.a, words.b),
      words.map([](auto a, auto b) { return static_cast<uint32_t>(a) >= static_cast<uint32_t>(b) ? 1 : 2; }));
  EXPECT_EQ(evaluate<int32_t>("setp.gt.s32 %p1, %r0, 0; setp.ne.and.s32 %p2|%p3, %r0, %r1, !%p1;"
                              "selp.b32 %r2, 1, 0, %p2; selp.b32 %r3, 2, 0, %p3; add.s32 %r9, %r2, %r3;",
                              words.a, words.b),
            words.map([](auto a, auto b) { return a > 0    ? 0
                                                  : a != b ? 1
                                                           : 2; }));
  EXPECT_EQ(evaluate<int32_t>("slct.b32.s32 %r9, %r0, 7, %r1;", words.a, words.b),
            words.map([](auto a, auto b) { return b >= 0 ? a : 7; }));
  EXPECT_EQ(evaluate<int32_t>("set.eq.s32.s32 %r9, %r0, %r1;", words.a, words.b),
            words.map([](auto a, auto b) { return a == b ? -1 : 0; }));
}

} // namespace
} // namespace trainc::emulator
