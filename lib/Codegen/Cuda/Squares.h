// Squares of matrices in a block's memory.
#pragma once

#include <cstdint>

namespace trainc::codegen::cuda {

/// Elements of a side: as many as a warp has threads.
inline constexpr int64_t kSquareSide = 32;

/// Elements from row to row: apart from multiples of the memory's banks.
constexpr int64_t squareRow(int64_t side) { return side + 1; }

} // namespace trainc::codegen::cuda
