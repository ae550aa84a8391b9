// What a rank takes of a GPU's memory beside arenas: trainc leaves room for it under a memory limit, and
// trainrun compares it with what there is.
#pragma once

#include <cstdint>

namespace trainc {

/// Assumed, until measurements replace it: what runs on data-center GPUs commonly show, rounded up.
inline constexpr uint64_t kGpuContextBytes = uint64_t{512} << 20; ///< the driver's context, with kernels
inline constexpr uint64_t kGpuLibraryBytes = uint64_t{128}
                                             << 20; ///< kernels of cuBLASLt and cuDNN, and graphs
inline constexpr uint64_t kGpuExchangeBytes = uint64_t{512} << 20; ///< NCCL's buffers, where there are peers

inline constexpr uint64_t gpuReserve(bool hasPeers) {
  return kGpuContextBytes + kGpuLibraryBytes + (hasPeers ? kGpuExchangeBytes : 0);
}

} // namespace trainc
