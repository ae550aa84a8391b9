// Summation order of the emulated NCCL.
#pragma once

#include "test/emulator/libnccl/api.h"
#include <cstddef>
#include <cstdint>
#include <span>

namespace trainc::emulator {

/// out[i] = sum of sources[.][i] in ring order: for `chunk` c of the tensor from rank c+1 around to rank c,
/// rounded to the type after each addition. From three ranks on this differs from the tree of
/// runtime/comm/tree_sum.h. Supports f32, bf16 and f16; returns false for other types.
bool ringSum(ncclDataType_t type, std::span<const std::byte *const> sources, uint64_t chunk, std::byte *out,
             size_t elements);

} // namespace trainc::emulator
