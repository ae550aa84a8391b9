// Instruction-set levels of plans for NVIDIA GPUs, and limits of their blocks; trainc observes them, and
// trainrun rejects plans that do not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace trainc {

/// One instruction-set level of an object. Machine code (cubin) runs on GPUs of its compute capability and on
/// later ones of the same generation. PTX, a text that ends with a zero byte, is compiled by the driver for
/// every GPU of that capability or higher.
struct CudaLevel {
  std::string_view name;
  int major, minor;
  bool isPtx;
};
inline constexpr CudaLevel kCudaLevels[] = {
    {"sm_80", 8, 0, false},     {"sm_90", 9, 0, false},     {"sm_100", 10, 0, false},
    {"compute_80", 8, 0, true}, {"compute_89", 8, 9, true},
};

/// Minimum major compute capability: older GPUs have no bf16 matrix units, and trainc emits no code for them.
inline constexpr int kMinCudaMajor = 8;
/// Minimum compute capability (Ada) whose tensor cores multiply fp8 numbers and that has instructions to
/// convert them.
inline constexpr int kF8Major = 8, kF8Minor = 9;
constexpr bool hasF8Products(int major, int minor) {
  return major > kF8Major || (major == kF8Major && minor >= kF8Minor);
}

/// Null if there is no level of this name.
inline const CudaLevel *findCudaLevel(std::string_view name) {
  const auto *found = std::ranges::find(kCudaLevels, name, &CudaLevel::name);
  return found == std::end(kCudaLevels) ? nullptr : found;
}

inline constexpr uint32_t kCudaThreads = 1024;                 ///< maximum threads of a block
inline constexpr uint64_t kCudaGrid = (uint64_t{1} << 31) - 1; ///< maximum blocks of a kernel
inline constexpr uint32_t kCudaSharedBytes = 227 * 1024;       ///< maximum shared memory of a block
/// Shared memory up to this size is declared in the code; a larger amount is passed at launch (`extern
/// .shared`).
inline constexpr uint32_t kCudaStaticSharedBytes = 48 * 1024;

} // namespace trainc
