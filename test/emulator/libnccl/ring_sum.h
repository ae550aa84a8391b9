// The order in which the emulated NCCL adds.
#pragma once

#include "test/emulator/libnccl/api.h"
#include <cstddef>
#include <cstdint>
#include <span>

namespace trainc::emulator {

/// out[i] = the sum of sources[.][i] as a ring makes it: for `chunk` c of the tensor, from rank c+1 on around
/// to rank c, one after the other, and rounded to the type after each. That is not the tree of
/// runtime/comm/tree_sum.h from three ranks on. `type` is f32, bf16 or f16; false for others.
bool ringSum(ncclDataType_t type, std::span<const std::byte *const> sources, uint64_t chunk, std::byte *out,
             size_t elements);

} // namespace trainc::emulator
