// Rounding as in PTX: once, from an exact result.
#pragma once

#include "base/small_float.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace trainc::emulator {

enum class Rounding : uint8_t { kNearest, kZero, kDown, kUp, kNearestAway };

/// A float format: fraction bits, and the exponents of the smallest normal and the largest number.
struct FloatFormat {
  int fractionBits, minimum, maximum;
};
constexpr FloatFormat kFloat16 = {10, -14, 15}, kBFloat16 = {7, -126, 127}, kFloat32 = {23, -126, 127};
constexpr FloatFormat kTensorFloat32 = {10, -126, 127};

constexpr uint32_t kNaN32 = 0x7fffffff; ///< canonical NaN of results
constexpr uint16_t kNaN16 = 0x7fff;

/// Rounds to odd: sets the last bit of `sum` unless `error`, its difference to the exact value, is 0.
/// Rounding the result to at least two bits less then equals rounding the exact value.
inline double roundedToOdd(double sum, double error) {
  auto bits = std::bit_cast<uint64_t>(sum);
  if (error != 0 && (bits & 1) == 0 && std::isfinite(sum))
    bits += (error > 0) == (sum > 0) ? 1 : ~uint64_t{0};
  return std::bit_cast<double>(bits);
}

inline double oddSum(double a, double b) {
  const double sum = a + b;
  const double partOfB = sum - a;
  const double error = (a - (sum - partOfB)) + (b - partOfB);
  return roundedToOdd(sum, std::isfinite(sum) ? error : 0);
}

inline double oddQuotient(double a, double b) {
  const double quotient = a / b;
  const double error = std::fma(-quotient, b, a); // has the sign of the remainder times b
  return roundedToOdd(quotient, std::isfinite(quotient) && quotient != 0 ? (b > 0 ? error : -error) : 0);
}

inline double oddSquareRoot(double a) {
  const double root = std::sqrt(a);
  return roundedToOdd(root, std::isfinite(root) ? std::fma(-root, root, a) : 0);
}

/// Rounds to an integral value.
inline double roundedToWhole(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::kNearest:
    return std::nearbyint(value);
  case Rounding::kZero:
    return std::trunc(value);
  case Rounding::kDown:
    return std::floor(value);
  case Rounding::kUp:
    return std::ceil(value);
  case Rounding::kNearestAway:
    return std::round(value);
  }
  return value;
}

/// Rounds to a value of the format.
inline double narrowed(double value, FloatFormat format, Rounding rounding) {
  if (value == 0 || !std::isfinite(value))
    return value;
  const int exponent = std::max(std::ilogb(value), format.minimum) - format.fractionBits;
  const double rounded = std::ldexp(roundedToWhole(std::ldexp(value, -exponent), rounding), exponent);
  const double largest = std::ldexp(2.0 - std::ldexp(1.0, -format.fractionBits), format.maximum);
  if (std::abs(rounded) <= largest)
    return rounded == 0 ? std::copysign(0.0, value) : rounded;
  const bool becomesInfinite = rounding == Rounding::kNearest || rounding == Rounding::kNearestAway ||
                               (value > 0 ? rounding == Rounding::kUp : rounding == Rounding::kDown);
  return std::copysign(becomesInfinite ? std::numeric_limits<double>::infinity() : largest, value);
}

/// Rounds an integer to a double with at most `digits` binary digits.
inline double wholeNumber(uint64_t magnitude, bool isNegative, int digits, Rounding rounding) {
  const int dropped = std::max(0, 64 - std::countl_zero(magnitude) - digits);
  if (dropped > 0) {
    const uint64_t unit = uint64_t{1} << dropped, rest = magnitude & (unit - 1), half = unit >> 1;
    magnitude -= rest;
    const bool isUp = rounding == Rounding::kNearest
                          ? rest > half || (rest == half && (magnitude & unit) != 0)
                      : rounding == Rounding::kNearestAway
                          ? rest >= half
                          : rest != 0 && rounding == (isNegative ? Rounding::kDown : Rounding::kUp);
    if (isUp && magnitude + unit < magnitude)
      return isNegative ? -0x1p64 : 0x1p64;
    magnitude += isUp ? unit : 0;
  }
  const auto value = static_cast<double>(magnitude);
  return isNegative ? -value : value;
}

/// Bits of a 16-bit float; PTX's canonical value for NaN.
template <typename Half> uint16_t halfBits(double value) {
  return std::isnan(value) ? kNaN16 : Half::nearest(value).bits;
}

inline float canonical(float value) { return std::isnan(value) ? std::bit_cast<float>(kNaN32) : value; }

/// Flushes subnormal numbers to zero, keeping the sign.
inline float flushed(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return (bits & 0x7f800000U) == 0 ? std::bit_cast<float>(bits & 0x80000000U) : value;
}

/// Clamps to [0, 1]; NaN becomes 0.
template <typename T> T saturated(T value) { return value > 0 ? (value < 1 ? value : T{1}) : T{0}; }

} // namespace trainc::emulator
