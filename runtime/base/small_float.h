// The 16-bit floats of files, widened exactly.
#pragma once

#include <bit>
#include <cstdint>

namespace trainc {

/// bfloat16: the upper half of an f32.
struct BFloat16 {
  uint16_t bits;
  explicit operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
  explicit operator double() const { return static_cast<float>(*this); }
};

/// IEEE 754 binary16: 1 sign bit, 5 exponent bits, 10 fraction bits.
struct Float16 {
  uint16_t bits;
  explicit operator float() const {
    const uint32_t sign = uint32_t{bits & 0x8000U} << 16;
    const uint32_t magnitude = bits & 0x7fffU;
    if (magnitude < 0x0400) // zero or subnormal: the fraction times 2^-24
      return std::bit_cast<float>(std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-24F) | sign);
    // Move the exponent's bias from 15 to 127; infinity and NaN get f32's largest exponent.
    const uint32_t bias = magnitude >= 0x7c00 ? (255U - 31U) << 23 : (127U - 15U) << 23;
    return std::bit_cast<float>(((magnitude << 13) + bias) | sign);
  }
  explicit operator double() const { return static_cast<float>(*this); }
};

} // namespace trainc
