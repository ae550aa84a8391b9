// The error bounds that lib/Codegen/MathLowering.h states, over dense samples of each function's range.
#include "test/unit/codegen/kernel_harness.h"

#include "llvm/ADT/bit.h"

#include <cfloat>
#include <cmath>
#include <gtest/gtest.h>

using namespace trainc::codegen::harness;
using trainc::reference::Tensor;
using trainc::reference::Tensors;

namespace {

constexpr int kSamples = 1 << 19;

struct Function {
  const char *op;
  long double (*exact)(long double);
  double bound32, bound64; // in ULPs
  double largest;          // arguments lie in [-largest, largest]
};

long double rsqrtl(long double x) { return 1 / std::sqrt(x); }
long double log1pl(long double x) { return std::log1p(x); }
long double softplusl(long double x) { return std::max(x, 0.0L) + std::log1p(std::exp(-std::abs(x))); }
long double logSigmoidl(long double x) { return -softplusl(-x); }

class MathTest : public ::testing::TestWithParam<Function> {};

std::string textOf(const char *op, const char *element) {
  std::string type = "tensor<" + std::to_string(kSamples) + "x" + element + ">";
  return "func.func @f(%x: " + type + ") -> " + type + " { %0 = nn." + op + " %x : " + type +
         " return %0 : " + type + " }";
}

/// Half of the samples spread over the numbers' bit patterns, half evenly over [-reach, reach].
template <typename Real> std::vector<double> samples(double largest, double reach) {
  using Bits = std::conditional_t<sizeof(Real) == 4, uint32_t, uint64_t>;
  std::vector<double> values = {0.0, -0.0, 1.0, -1.0};
  const Bits top = llvm::bit_cast<Bits>(Real(largest));
  const int half = kSamples / 4;
  for (int i = 0; i < half; ++i) {
    Real x = llvm::bit_cast<Real>(Bits(top / half * Bits(i)));
    values.push_back(x);
    values.push_back(-x);
  }
  while (values.size() < kSamples)
    values.push_back(Real(reach * (2.0 * values.size() / kSamples - 1) * 1.000123));
  values.resize(kSamples);
  return values;
}

/// The distance from `expected` in units in its last place as a Real.
template <typename Real> double ulps(double actual, long double expected) {
  Real rounded = Real(expected);
  if (std::isnan(expected) || std::isinf(rounded))
    return (std::isnan(expected) ? std::isnan(actual) : actual == rounded) ? 0 : INFINITY;
  Real next = std::nextafter(std::abs(rounded), Real(INFINITY));
  long double unit = static_cast<long double>(next) - std::abs(static_cast<long double>(rounded));
  return double(std::abs(actual - expected) / unit);
}

template <typename Real> void check(const Function &function, const char *element, double bound) {
  CompiledOp op(textOf(function.op, element));
  ASSERT_TRUE(op);
  Tensors inputs = {Tensor(mlir::cast<mlir::RankedTensorType>(op.inputTypes()[0]))};
  double largest = std::min<double>(function.largest, std::numeric_limits<Real>::max());
  inputs[0].reals = samples<Real>(largest, std::min(largest, 20.0));
  Tensor result = op.run(inputs)[0];
  double worst = 0, where = 0;
  for (int i = 0; i < kSamples; ++i) {
    double error = ulps<Real>(result.reals[i], function.exact(inputs[0].reals[i]));
    if (!(error <= worst))
      worst = error, where = inputs[0].reals[i];
  }
  ::testing::Test::RecordProperty(element, std::to_string(worst));
  EXPECT_LE(worst, bound) << "at " << where;
}

TEST_P(MathTest, ErrorBound32) { check<float>(GetParam(), "f32", GetParam().bound32); }
TEST_P(MathTest, ErrorBound64) { check<double>(GetParam(), "f64", GetParam().bound64); }

TEST_P(MathTest, NotANumberStays) {
  CompiledOp op(textOf(GetParam().op, "f32"));
  ASSERT_TRUE(op);
  Tensors inputs = {Tensor(mlir::cast<mlir::RankedTensorType>(op.inputTypes()[0]))};
  inputs[0].reals.assign(kSamples, NAN);
  Tensor result = op.run(inputs)[0];
  EXPECT_TRUE(std::isnan(result.reals[0]) && std::isnan(result.reals[kSamples - 1]));
  inputs[0].reals.assign(kSamples, INFINITY);
  inputs[0].reals[1] = -INFINITY;
  result = op.run(inputs)[0];
  for (int i = 0; i < 2; ++i) {
    long double expected = GetParam().exact(inputs[0].reals[i]);
    EXPECT_TRUE(std::isnan(expected) ? std::isnan(result.reals[i]) : result.reals[i] == expected)
        << inputs[0].reals[i] << ": " << result.reals[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, MathTest,
                         ::testing::Values(Function{"exp", std::exp, 1.1, 1.0, DBL_MAX},
                                           Function{"log", std::log, 1.0, 1.0, DBL_MAX},
                                           Function{"log1p", log1pl, 1.0, 1.0, DBL_MAX},
                                           Function{"softplus", softplusl, 3.0, 3.0, DBL_MAX},
                                           Function{"log_sigmoid", logSigmoidl, 3.0, 3.0, DBL_MAX},
                                           Function{"tanh", std::tanh, 2.5, 2.5, DBL_MAX},
                                           Function{"erf", std::erf, 2.5, 4.0, DBL_MAX},
                                           Function{"sin", std::sin, 1.6, 1.6, 1e5},
                                           Function{"cos", std::cos, 1.6, 1.6, 1e5},
                                           Function{"rsqrt", rsqrtl, 1.5, 1.5, DBL_MAX}),
                         [](const auto &info) { return std::string(info.param.op); });

} // namespace
