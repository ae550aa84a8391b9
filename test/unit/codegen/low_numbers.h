// bf16 and f16 numbers as the tests make and read them, held in f32.
#pragma once

#include "test/unit/codegen/kernel_harness.h"

#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <cstring>
#include <random>

namespace trainc::codegen::harness {

/// Levels with instructions for bf16 numbers: for pairs, and for tiles.
inline const std::string kPairLevel = "x86-64-v4-bf16", kUnitLevel = "x86-64-v4-amx";

/// Whether products of bf16 numbers have the bits of that level alone, and take numbers below 2^-126 for
/// zero.
inline bool hasBf16Instructions(const std::string &level) {
  return level == kPairLevel || level == kUnitLevel;
}

enum class Low { Bf16, F16 };

inline const char *name(Low low) { return low == Low::Bf16 ? "bf16" : "f16"; }

/// Half an ULP of numbers as large as `magnitude`.
inline double halfUnit(double magnitude, Low low) {
  const int bits = low == Low::Bf16 ? 8 : 11, minimum = low == Low::Bf16 ? -126 : -14;
  int exponent = minimum + 1;
  if (magnitude > 0)
    std::frexp(magnitude, &exponent);
  return std::ldexp(0.5, std::max(exponent - 1, minimum) - (bits - 1));
}

inline const llvm::fltSemantics &semantics(Low low) {
  return low == Low::Bf16 ? llvm::APFloat::BFloat() : llvm::APFloat::IEEEhalf();
}

/// The bits of the nearest number, ties to even.
inline uint16_t bitsOf(float x, Low low) {
  llvm::APFloat number(x);
  bool inexact;
  number.convert(semantics(low), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return uint16_t(number.bitcastToAPInt().getZExtValue());
}

inline float numberOf(uint16_t bits, Low low) {
  return llvm::APFloat(semantics(low), llvm::APInt(16, bits)).convertToFloat();
}

inline float roundedTo(float x, Low low) { return numberOf(bitsOf(x, low), low); }

inline std::vector<float> randomNumbers(int64_t count, Low low, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> numbers(count);
  for (float &number : numbers)
    number = roundedTo(std::uniform_real_distribution<float>(-2, 2)(random), low);
  return numbers;
}

inline Buffer lowBuffer(const std::vector<float> &numbers, Low low) {
  Buffer buffer(int64_t(numbers.size() * sizeof(uint16_t)));
  for (size_t i = 0; i < numbers.size(); ++i)
    static_cast<uint16_t *>(buffer.data())[i] = bitsOf(numbers[i], low);
  return buffer;
}

inline Buffer f32Buffer(const std::vector<float> &numbers) {
  Buffer buffer(int64_t(numbers.size() * sizeof(float)));
  std::memcpy(buffer.data(), numbers.data(), numbers.size() * sizeof(float));
  return buffer;
}

inline std::vector<float> readLow(const void *data, int64_t count, Low low) {
  std::vector<float> numbers(count);
  for (int64_t i = 0; i < count; ++i)
    numbers[i] = numberOf(static_cast<const uint16_t *>(data)[i], low);
  return numbers;
}

inline std::vector<float> readF32(const void *data, int64_t count) {
  const auto *from = static_cast<const float *>(data);
  return {from, from + count};
}

} // namespace trainc::codegen::harness
