// Element types of matrices.
#pragma once

#include "base/float8.h"
#include "base/small_float.h"
#include "test/emulator/libcublaslt/api.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace trainc::emulator {

/// Whether the type is an fp8 type, which only factors have.
inline bool isFp8(cudaDataType type) { return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2; }

/// Bytes of an element; 0 if the type is not emulated.
inline size_t bytesOf(cudaDataType type) {
  return type == CUDA_R_32F ? 4 : type == CUDA_R_16BF || type == CUDA_R_16F ? 2 : isFp8(type) ? 1 : 0;
}

template <typename T> float loadAs(const std::byte *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<float>(value);
}

inline float load(cudaDataType type, const std::byte *from) {
  return type == CUDA_R_32F       ? loadAs<float>(from)
         : type == CUDA_R_16BF    ? loadAs<BFloat16>(from)
         : type == CUDA_R_8F_E4M3 ? loadAs<Float8E4M3>(from)
         : type == CUDA_R_8F_E5M2 ? loadAs<Float8E5M2>(from)
                                  : loadAs<Float16>(from);
}

/// Rounds to the nearest value of the type, which must not be fp8.
inline void store(cudaDataType type, std::byte *to, float value) {
  const uint16_t bits = type == CUDA_R_16BF ? BFloat16::nearest(value).bits : Float16::nearest(value).bits;
  if (type == CUDA_R_32F)
    std::memcpy(to, &value, sizeof value);
  else
    std::memcpy(to, &bits, sizeof bits);
}

/// Rounds to a fraction of ten bits, ties away from zero (PTX: cvt.rna.tf32.f32).
inline float nearestTf32(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7f800000U) == 0x7f800000U)
    return value;
  return std::bit_cast<float>((bits + 0x1000U) & ~0x1fffU);
}

} // namespace trainc::emulator
