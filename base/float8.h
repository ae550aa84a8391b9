// The 8-bit floats of matrix products: exact widening and rounding to nearest.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace trainc {

/// An 8-bit float: one sign bit, then exponent and fraction. `Largest` holds the bits of the largest finite
/// number; all bit patterns above it are NaN, except for the infinity of a format that has one.
template <int FractionBits, uint8_t Largest, bool HasInfinity> struct Float8 {
  static constexpr int kBias = (1 << (6 - FractionBits)) - 1;
  static constexpr uint8_t kNan = 0x7f;
  /// Bits that are all set in a NaN or infinity and in no other number.
  static constexpr uint8_t kNonFinite = HasInfinity ? Largest + 1 : kNan;

  uint8_t bits;

  /// Rounds to nearest, ties to even. Values beyond the largest finite number saturate and keep their sign;
  /// NaN stays NaN.
  static Float8 nearest(double value) {
    if (std::isnan(value))
      return {kNan};
    const auto sign = static_cast<uint8_t>(std::signbit(value) ? 0x80 : 0);
    const double magnitude = std::min(std::abs(value), static_cast<double>(Float8{Largest}));
    if (magnitude == 0)
      return {sign};
    // A carry out of the fraction correctly increments the exponent.
    const int exponent = std::max(std::ilogb(magnitude), 1 - kBias);
    const auto fraction = static_cast<int>(std::nearbyint(std::ldexp(magnitude, FractionBits - exponent)));
    return {static_cast<uint8_t>(sign | (((exponent + kBias - 1) << FractionBits) + fraction))};
  }

  explicit operator double() const {
    const int magnitude = bits & 0x7f, exponent = std::max(magnitude >> FractionBits, 1);
    const int fraction = magnitude - ((exponent - 1) << FractionBits);
    const double number = magnitude <= Largest ? std::ldexp(fraction, exponent - kBias - FractionBits)
                          : HasInfinity && magnitude == Largest + 1 ? HUGE_VAL
                                                                    : NAN;
    return std::copysign(number, (bits & 0x80) != 0 ? -1.0 : 1.0);
  }
  explicit operator float() const { return static_cast<float>(static_cast<double>(*this)); }
};

/// f8E4M3FN: maximum 448, no infinity.
using Float8E4M3 = Float8<3, 0x7e, false>;
/// f8E5M2: maximum 57344; the upper half of a binary16.
using Float8E5M2 = Float8<2, 0x7b, true>;

} // namespace trainc
