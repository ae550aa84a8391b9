// Workspace that the device `cpu` needs for library calls: trainc allocates it, and trainrun rejects plans
// with less.
#pragma once

#include <algorithm>
#include <cstdint>

namespace trainc {

/// Columns of b that a matrix product packs at a time.
inline constexpr uint64_t kPackedColumns = 256;

/// Bytes for a matrix product of `n` columns and `k` terms.
inline constexpr uint64_t cpuProductWorkspace(bool transposeB, uint64_t n, uint64_t k) {
  return transposeB ? std::min(n, kPackedColumns) * k * sizeof(float) : 0;
}

/// Bytes for attention: the gradient needs one number per query and head.
inline constexpr uint64_t cpuAttentionWorkspace(bool backward, uint64_t batch, uint64_t heads,
                                                uint64_t queries) {
  return backward ? batch * heads * queries * sizeof(float) : 0;
}

} // namespace trainc
