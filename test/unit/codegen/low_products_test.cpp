// Matrix products of bf16 and f16 numbers against a double loop, on every level that runs here. The matrix
// unit is emulated if the CPU has none.
#include "test/unit/codegen/low_numbers.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace trainc::codegen::harness;
using trainc::check::Buffer;

namespace {

struct Case {
  const char *name;
  int64_t m, n, k;
  bool transposeA = false, transposeB = false, accumulate = false;
  int64_t batch = 1;
  bool reduceBatch = false;
};

struct Kind {
  Low low;
  bool keepsF32; ///< whether the result is f32
};

struct Matrices {
  std::vector<float> a, b, added;
};

std::string tensor(int64_t batch, int64_t rows, int64_t columns, const std::string &element) {
  return "tensor<" + (batch > 1 ? std::to_string(batch) + "x" : "") + std::to_string(rows) + "x" +
         std::to_string(columns) + "x" + element + ">";
}

std::string program(const Case &c, const Kind &kind) {
  const std::string low = name(kind.low), result = kind.keepsF32 ? "f32" : low;
  const std::string a = tensor(c.batch, c.transposeA ? c.k : c.m, c.transposeA ? c.m : c.k, low),
                    b = tensor(c.batch, c.transposeB ? c.n : c.k, c.transposeB ? c.k : c.n, low),
                    to = tensor(c.reduceBatch ? 1 : c.batch, c.m, c.n, result);
  return "func.func @f(%a: " + a + ", %b: " + b + (c.accumulate ? ", %c: " + to : "") + ") -> " + to +
         " { %0 = nn.matmul %a" + (c.transposeA ? " transposed" : "") + ", %b" +
         (c.transposeB ? " transposed" : "") + (c.reduceBatch ? " reduce_batch" : "") +
         (kind.keepsF32 ? " to f32" : "") + (c.accumulate ? " accumulate %c : " + to : "") + " : " + a +
         ", " + b + " return %0 : " + to + " }";
}

int64_t results(const Case &c) { return (c.reduceBatch ? 1 : c.batch) * c.m * c.n; }

float at(const std::vector<float> &of, int64_t matrix, int64_t rows, int64_t columns, int64_t row,
         int64_t column, bool transposed) {
  return of[matrix * rows * columns + (transposed ? column * rows + row : row * columns + column)];
}

/// Calls `visit(element, a, b)` for each term of each element.
template <typename Visit> void forTerms(const Case &c, const Matrices &x, Visit visit) {
  for (int64_t matrix = 0; matrix < c.batch; ++matrix)
    for (int64_t i = 0; i < c.m; ++i)
      for (int64_t j = 0; j < c.n; ++j)
        for (int64_t p = 0; p < c.k; ++p)
          visit(((c.reduceBatch ? 0 : matrix) * c.m + i) * c.n + j,
                at(x.a, matrix, c.m, c.k, i, p, c.transposeA), at(x.b, matrix, c.k, c.n, p, j, c.transposeB));
}

Matrices randomMatrices(const Case &c, const Kind &kind) {
  Matrices x;
  x.a = randomNumbers(c.batch * c.m * c.k, kind.low, 1);
  x.b = randomNumbers(c.batch * c.k * c.n, kind.low, 2);
  x.added = randomNumbers(results(c), kind.low, 3);
  return x;
}

std::vector<float> runOn(const CompiledOp &op, const Case &c, const Kind &kind, const Matrices &x,
                         const std::string &level, Order order = Order::AtOnce) {
  std::vector<Buffer> operands;
  operands.push_back(lowBuffer(x.a, kind.low));
  operands.push_back(lowBuffer(x.b, kind.low));
  if (c.accumulate)
    operands.push_back(kind.keepsF32 ? f32Buffer(x.added) : lowBuffer(x.added, kind.low));
  const CompiledOp::Execution execution = op.prepare(std::move(operands), level);
  execution.run(order);
  return kind.keepsF32 ? readF32(execution.resultBytes(0), results(c))
                       : readLow(execution.resultBytes(0), results(c), kind.low);
}

/// Exact sums, and sums of the magnitudes of their terms.
struct Expected {
  std::vector<double> sums, magnitudes;

  Expected(const Case &c, const Matrices &x) : sums(results(c)), magnitudes(results(c)) {
    if (c.accumulate)
      for (size_t i = 0; i < sums.size(); ++i)
        sums[i] = x.added[i], magnitudes[i] = std::abs(x.added[i]);
    forTerms(c, x, [&](int64_t i, double a, double b) {
      sums[i] += a * b;
      magnitudes[i] += std::abs(a * b);
    });
  }
};

/// Each product is exact and each sum rounded to 24 bits. A level with instructions for bf16 numbers takes
/// factors and sums below 2^-126 for zero, for which `flushed` is added for each term: factors are below 2.
void expectClose(const Case &c, const Kind &kind, const Expected &expected, const std::vector<float> &actual,
                 double flushed, const std::string &level) {
  const double terms = double(c.k * (c.reduceBatch ? c.batch : 1) + 1);
  for (size_t i = 0; i < actual.size(); ++i) {
    const double sum = expected.sums[i], error = terms * (std::ldexp(expected.magnitudes[i], -24) + flushed),
                 rounding = kind.keepsF32 ? 0 : halfUnit(std::abs(sum) + error, kind.low);
    ASSERT_LE(std::abs(actual[i] - sum), error + rounding)
        << level << ", element " << i << ": " << actual[i] << " instead of " << sum;
  }
}

const std::vector<Case> kCases = {
    {"odd", 45, 83, 77},
    {"one", 1, 1, 1},
    {"row", 1, 100, 65},
    {"row_transposed_b", 1, 100, 65, false, true},
    {"row_blocks", 1, 50, 531, false, true, true},
    {"column", 70, 1, 33},
    {"transposed_a", 45, 83, 77, true},
    {"transposed_b", 45, 83, 77, false, true},
    {"both", 45, 83, 77, true, true},
    {"even", 48, 96, 64},
    {"even_both", 48, 96, 64, true, true},
    {"blocks_of_terms", 33, 50, 700},
    {"blocks_of_terms_odd", 33, 50, 1027, true, false},
    {"edge_of_block", 20, 60, 513, false, true},
    {"tiles", 300, 500, 270, true, true},
    {"whole_tiles", 64, 96, 256},
    {"half_tiles", 80, 144, 96, false, true},
    {"edge_of_tiles", 33, 65, 97, true, false},
    {"accumulate", 45, 83, 77, false, false, true},
    {"accumulate_blocks", 45, 83, 600, false, true, true},
    {"batch", 17, 20, 31, false, false, false, 3},
    {"batch_blocks", 17, 50, 531, true, true, true, 2},
    {"reduce", 17, 20, 31, false, true, false, 3, true},
    {"reduce_rows", 17, 20, 31, true, false, false, 3, true},
    {"reduce_accumulate", 40, 52, 300, false, true, true, 2, true},
};

const std::vector<Kind> kKinds = {{Low::Bf16, false}, {Low::Bf16, true}, {Low::F16, false}, {Low::F16, true}};

class LowProductsTest : public ::testing::TestWithParam<std::tuple<Case, Kind>> {};

std::string nameOf(const ::testing::TestParamInfo<std::tuple<Case, Kind>> &info) {
  const auto &[c, kind] = info.param;
  return std::string(c.name) + "_" + name(kind.low) + (kind.keepsF32 ? "_to_f32" : "");
}

INSTANTIATE_TEST_SUITE_P(Shapes, LowProductsTest,
                         ::testing::Combine(::testing::ValuesIn(kCases), ::testing::ValuesIn(kKinds)),
                         nameOf);

TEST_P(LowProductsTest, IsASumInF32RoundedOnce) {
  const auto &[c, kind] = GetParam();
  const CompiledOp op(program(c, kind));
  ASSERT_TRUE(op);
  const Matrices x = randomMatrices(c, kind);
  const Expected expected(c, x);
  std::vector<float> first;
  for (const std::string &level : op.levels()) {
    if (!CompiledOp::levelRunsHere(level))
      continue;
    const std::vector<float> actual = runOn(op, c, kind, x, level);
    expectClose(c, kind, expected, actual, hasBf16Instructions(level) ? std::ldexp(1.0, -123) : 0, level);
    for (Order order : {Order::Reversed, Order::InThrees})
      EXPECT_EQ(runOn(op, c, kind, x, level, order), actual) << level;
    if (first.empty())
      first = actual;
    if (!hasBf16Instructions(level))
      EXPECT_EQ(actual, first) << level;
  }
}

/// f32 sums whose result is exact: the only error is one rounding to nearest even, for all numbers.
TEST(LowProducts, ResultsAreRoundedToTheNearest) {
  const Case c{"", 8, 32, 2};
  for (Low low : {Low::Bf16, Low::F16}) {
    const Kind kind{low, false};
    const CompiledOp op(program(c, kind));
    ASSERT_TRUE(op);
    Matrices x = randomMatrices(c, kind);
    for (int64_t i = 0; i < c.m; ++i) // a sum of two numbers that are many bits apart
      x.a[2 * i] = 1, x.a[2 * i + 1] = std::ldexp(1.0F, -int(i) - 4);
    const Expected expected(c, x);
    for (const std::string &level : op.levels()) {
      if (!CompiledOp::levelRunsHere(level))
        continue;
      const std::vector<float> actual = runOn(op, c, kind, x, level);
      for (size_t i = 0; i < actual.size(); ++i)
        EXPECT_EQ(actual[i], roundedTo(float(expected.sums[i]), low)) << level << " " << expected.sums[i];
    }
  }
}

TEST(LowProducts, InfinitiesAndNaNStayInTheirRows) {
  const Case c{"", 40, 40, 33};
  for (const Kind &kind : kKinds) {
    const CompiledOp op(program(c, kind));
    ASSERT_TRUE(op);
    Matrices x = randomMatrices(c, kind);
    for (float &b : x.b)
      b = std::abs(b) + 1;
    x.a[7 * 33 + 32] = std::nanf("");
    x.a[9 * 33 + 1] = HUGE_VALF;
    x.a[11 * 33 + 1] = -HUGE_VALF;
    for (const std::string &level : op.levels()) {
      if (!CompiledOp::levelRunsHere(level))
        continue;
      const std::vector<float> actual = runOn(op, c, kind, x, level);
      for (int64_t i = 0; i < results(c); ++i) {
        EXPECT_EQ(std::isnan(actual[i]), i / 40 == 7) << level << " " << i;
        EXPECT_EQ(std::isinf(actual[i]), i / 40 == 9 || i / 40 == 11) << level << " " << i;
        EXPECT_TRUE(i / 40 != 11 || actual[i] < 0);
      }
    }
  }
}

/// Subnormal factors and results keep their value, except on levels with instructions for bf16 numbers.
TEST(LowProducts, SubnormalNumbers) {
  const Case c{"", 16, 48, 1};
  for (Low low : {Low::Bf16, Low::F16}) {
    const Kind kind{low, false};
    const CompiledOp op(program(c, kind));
    ASSERT_TRUE(op);
    Matrices x = randomMatrices(c, kind);
    for (int64_t i = 0; i < c.m; ++i)
      x.a[i] = roundedTo(std::ldexp(float(i + 1), low == Low::Bf16 ? -133 : -24), low);
    for (int64_t j = 0; j < c.n; ++j)
      x.b[j] = j % 2 == 0 ? 1.0F : 0.5F;
    for (const std::string &level : op.levels()) {
      if (!CompiledOp::levelRunsHere(level))
        continue;
      const std::vector<float> actual = runOn(op, c, kind, x, level);
      forTerms(c, x, [&](int64_t i, double a, double b) {
        const float exact = roundedTo(float(a * b), low);
        if (hasBf16Instructions(level))
          EXPECT_LE(std::abs(actual[i] - exact), std::ldexp(1.0, -126));
        else
          EXPECT_EQ(actual[i], exact) << level;
      });
    }
  }
}

/// Only plans whose kernels have products of bf16 numbers hold code for the levels with instructions for
/// them.
TEST(LowProducts, LevelsFollowTheFactors) {
  const std::vector<std::string> both = {"x86-64-v3", "x86-64-v4"},
                                 all = {both[0], both[1], kUnitLevel, kPairLevel};
  const Case c{"", 8, 8, 8};
  EXPECT_EQ(CompiledOp(program(c, {Low::Bf16, true})).levels(), all);
  EXPECT_EQ(CompiledOp(program(c, {Low::Bf16, false})).levels(), all);
  EXPECT_EQ(CompiledOp(program(c, {Low::F16, false})).levels(), both);
  const CompiledOp beside(program(c, {Low::Bf16, false}), trainc::Fp32Products::Bf16x3);
  EXPECT_EQ(beside.levels(), std::vector<std::string>{"x86-64-v4"});
}

} // namespace
