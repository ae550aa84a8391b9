// Memory of a rank on a GPU beside arenas: trainc reserves it under a memory limit, and trainrun compares it
// with the available memory.
#pragma once

#include <cstdint>

namespace trainc {

/// Assumed values until measured: typical amounts on data-center GPUs, rounded up.
inline constexpr uint64_t kGpuContextBytes = uint64_t{512} << 20; ///< CUDA context, including kernels
inline constexpr uint64_t kGpuLibraryBytes = uint64_t{128}
                                             << 20; ///< kernels of cuBLASLt and cuDNN, and graphs
inline constexpr uint64_t kGpuExchangeBytes = uint64_t{512} << 20; ///< NCCL buffers, if there are peers

inline constexpr uint64_t gpuReserve(bool hasPeers) {
  return kGpuContextBytes + kGpuLibraryBytes + (hasPeers ? kGpuExchangeBytes : 0);
}

} // namespace trainc
