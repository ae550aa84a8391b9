// What plans for GPUs of NVIDIA's hold, and how large their blocks may be; trainc keeps to it, and trainrun
// refuses a plan that does not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace trainc {

/// Plan.target of such a plan.
inline constexpr std::string_view kCudaTarget = "cuda";

/// One instruction-set level of an object: machine code (cubin) for GPUs of a compute capability, and those
/// of the same generation that came later; or PTX, a text that ends with a zero byte, which the driver
/// compiles for every GPU of that capability or a higher one.
struct CudaLevel {
  std::string_view name;
  int major, minor;
  bool isPtx;
};
inline constexpr CudaLevel kCudaLevels[] = {
    {"sm_80", 8, 0, false},     {"sm_90", 9, 0, false},     {"sm_100", 10, 0, false},
    {"compute_80", 8, 0, true}, {"compute_89", 8, 9, true},
};

/// GPUs below have no bf16 numbers in their matrix units, and trainc writes no code for them.
inline constexpr int kLeastCudaMajor = 8;
/// The lowest compute capability whose tensor cores multiply fp8 numbers, and which has instructions that
/// convert them (Ada).
inline constexpr int kF8Major = 8, kF8Minor = 9;
constexpr bool hasF8Products(int major, int minor) {
  return major > kF8Major || (major == kF8Major && minor >= kF8Minor);
}

/// Null where there is none of this name.
inline const CudaLevel *findCudaLevel(std::string_view name) {
  const auto *found = std::ranges::find(kCudaLevels, name, &CudaLevel::name);
  return found == std::end(kCudaLevels) ? nullptr : found;
}

inline constexpr uint32_t kCudaThreads = 1024;                 ///< of a block, at most
inline constexpr uint64_t kCudaGrid = (uint64_t{1} << 31) - 1; ///< blocks of a kernel, at most
inline constexpr uint32_t kCudaSharedBytes = 227 * 1024;       ///< of a block, at most
/// Shared memory up to here is declared in the code; what is more is given at the launch (`extern .shared`).
inline constexpr uint32_t kCudaStaticSharedBytes = 48 * 1024;

} // namespace trainc
