// The 16-bit floats of files: exact widening and rounding to nearest.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace trainc {

/// Bits of the infinity of a 16-bit float: the exponent's, all set.
template <int FractionBits> inline constexpr uint16_t kInfinityBits = 0x7fffU >> FractionBits << FractionBits;

/// Bits of the nearest 16-bit float, ties to even. Values beyond the largest finite number become infinity;
/// NaN stays NaN. `MinExponent` is the exponent of the smallest normal number.
template <int FractionBits, int MinExponent> uint16_t nearestBits(double value) {
  constexpr int dropped = 52 - FractionBits;
  constexpr uint64_t infinity = kInfinityBits<FractionBits>;
  const auto powerOfTwo = [](int exponent) { return static_cast<uint64_t>(1023 + exponent) << 52; };
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint64_t sign = bits >> 48 & 0x8000U;
  const uint64_t magnitude = bits & ~(uint64_t{1} << 63);
  uint64_t nearest = 0;
  if (std::isnan(value)) {
    const uint64_t quiet = uint64_t{1} << (FractionBits - 1);
    nearest = infinity | quiet | (magnitude >> dropped & ~infinity & 0x7fffU);
  } else if (magnitude < powerOfTwo(MinExponent)) { // a multiple of the smallest subnormal
    const auto scale = std::bit_cast<double>(powerOfTwo(FractionBits - MinExponent));
    nearest = static_cast<uint64_t>(std::nearbyint(std::abs(value) * scale));
  } else { // a carry out of the fraction correctly increments the exponent
    const uint64_t rebased = magnitude - powerOfTwo(MinExponent - 1);
    const uint64_t half = (uint64_t{1} << (dropped - 1)) - 1 + (rebased >> dropped & 1);
    nearest = std::min((rebased + half) >> dropped, infinity);
  }
  return static_cast<uint16_t>(sign | nearest);
}

/// The f32 overload, free of branches so that loops vectorize.
template <int FractionBits, int MinExponent> uint16_t nearestBits(float value) {
  constexpr int dropped = 23 - FractionBits;
  constexpr uint32_t infinity = kInfinityBits<FractionBits>, wideInfinity = 0x7f800000;
  const auto powerOfTwo = [](int exponent) { return static_cast<uint32_t>(127 + exponent) << 23; };
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7fffffffU;
  const uint32_t rebased = magnitude - powerOfTwo(MinExponent - 1);
  const uint32_t half = (uint32_t{1} << (dropped - 1)) - 1 + (rebased >> dropped & 1);
  uint32_t nearest = std::min((rebased + half) >> dropped, infinity);
  if constexpr (MinExponent > -126) { // subnormal: adding a number whose ULP is the smallest subnormal rounds
    const uint32_t large = powerOfTwo(MinExponent - FractionBits + 23);
    const float sum = std::bit_cast<float>(magnitude) + std::bit_cast<float>(large);
    nearest = magnitude < powerOfTwo(MinExponent) ? std::bit_cast<uint32_t>(sum) - large : nearest;
  }
  const uint32_t quiet = uint32_t{1} << (FractionBits - 1);
  const uint32_t nan = infinity | quiet | (magnitude >> dropped & ~infinity & 0x7fffU);
  return static_cast<uint16_t>((bits >> 16 & 0x8000U) | (magnitude > wideInfinity ? nan : nearest));
}

/// bfloat16: the upper half of an f32.
struct BFloat16 {
  /// Bits that are all set in a NaN or infinity and in no other number.
  static constexpr uint16_t kNonFinite = kInfinityBits<7>;

  uint16_t bits;
  static BFloat16 nearest(double value) { return {nearestBits<7, -126>(value)}; }
  static BFloat16 nearest(float value) { return {nearestBits<7, -126>(value)}; }
  explicit operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
  explicit operator double() const { return static_cast<float>(*this); }
};

/// IEEE 754 binary16: 1 sign bit, 5 exponent bits, 10 fraction bits.
struct Float16 {
  /// Bits that are all set in a NaN or infinity and in no other number.
  static constexpr uint16_t kNonFinite = kInfinityBits<10>;

  uint16_t bits;
  static Float16 nearest(double value) { return {nearestBits<10, -14>(value)}; }
  static Float16 nearest(float value) { return {nearestBits<10, -14>(value)}; }
  explicit operator float() const {
    const uint32_t sign = uint32_t{bits & 0x8000U} << 16;
    const uint32_t magnitude = bits & 0x7fffU;
    if (magnitude < 0x0400) // zero or subnormal: the fraction times 2^-24
      return std::bit_cast<float>(std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-24F) | sign);
    // Rebias the exponent from 15 to 127; infinity and NaN get f32's largest exponent.
    const uint32_t bias = magnitude >= 0x7c00 ? (255U - 31U) << 23 : (127U - 15U) << 23;
    return std::bit_cast<float>(((magnitude << 13) + bias) | sign);
  }
  explicit operator double() const { return static_cast<float>(*this); }
};

} // namespace trainc
