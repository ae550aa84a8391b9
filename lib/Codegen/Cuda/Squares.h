// Squares of matrices in a block's memory.
#pragma once

#include <cstdint>

namespace trainc::codegen::cuda {

/// Elements of a side: the number of threads in a warp.
inline constexpr int64_t kSquareSide = 32;

/// Elements between rows, odd to avoid bank conflicts.
constexpr int64_t squareRow(int64_t side) { return side + 1; }

} // namespace trainc::codegen::cuda
