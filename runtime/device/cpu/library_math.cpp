#include "runtime/device/cpu/library_math.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace trainc::plain {

namespace {

/// ln 2 as a sum of two; products of the first with integers below 2^11 are exact.
constexpr double kLogTwoHigh = 0x1.62e42fefa38p-1, kLogTwoLow = 0x1.ef35793c7673p-45;
constexpr double kSqrtTwoOverPi = 0.79788456080286535588, kCubic = 0.044715;

} // namespace

/// 2^n e^r with |r| <= ln(2)/2, by e^r's series.
double exp(double x) {
  if (std::isnan(x))
    return x;
  if (x > 709.75)
    return std::numeric_limits<double>::infinity();
  if (x < -745)
    return 0;
  const double n = std::nearbyint(x / std::numbers::ln2);
  const double r = (x - n * kLogTwoHigh) - n * kLogTwoLow;
  double sum = 1;
  for (int term = 14; term > 0; --term)
    sum = 1 + r / term * sum;
  return std::ldexp(sum, static_cast<int>(n));
}

/// n ln 2 + 2 artanh(s), with s = (m - 1) / (m + 1) for m within a factor of sqrt 2 of 1.
double log(double x) {
  if (x == 0)
    return -std::numeric_limits<double>::infinity();
  if (!(x > 0) || std::isinf(x))
    return x < 0 ? std::numeric_limits<double>::quiet_NaN() : x;
  int n = 0;
  double m = std::frexp(x, &n);
  if (m < std::numbers::sqrt2 / 2) {
    m *= 2;
    --n;
  }
  const double s = (m - 1) / (m + 1), square = s * s;
  double sum = 0;
  for (int term = 23; term > 0; term -= 2)
    sum = sum * square + 1.0 / term;
  return n * kLogTwoHigh + (n * kLogTwoLow + 2 * s * sum);
}

double tanh(double x) {
  const double e = exp(2 * x);
  return std::isinf(e) ? 1 : 1 - 2 / (e + 1);
}

/// 2/sqrt(pi) e^(-x^2) times the sum of 2^n x^(2n+1) / (1 3 5 ... (2n+1)), whose terms have one sign.
double erf(double x) {
  if (std::isnan(x))
    return x;
  if (std::abs(x) > 6)
    return x > 0 ? 1 : -1;
  double term = x, sum = x;
  for (int n = 1; std::abs(term) > std::abs(sum) * 1e-17; ++n) {
    term *= 2 * x * x / (2 * n + 1);
    sum += term;
  }
  return 2 * std::numbers::inv_sqrtpi * exp(-x * x) * sum;
}

float gelu(float x, bool isTanh) {
  const double v = x;
  const double gate = isTanh ? tanh(kSqrtTwoOverPi * (v + kCubic * v * v * v)) : erf(v / std::numbers::sqrt2);
  return static_cast<float>(v / 2 * (1 + gate));
}

float geluSlope(float x, bool isTanh) {
  const double v = x;
  if (!isTanh)
    return static_cast<float>((1 + erf(v / std::numbers::sqrt2)) / 2 +
                              v * exp(-v * v / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2);
  const double gate = tanh(kSqrtTwoOverPi * (v + kCubic * v * v * v));
  return static_cast<float>((1 + gate) / 2 +
                            v / 2 * (1 - gate * gate) * kSqrtTwoOverPi * (1 + 3 * kCubic * v * v));
}

} // namespace trainc::plain
