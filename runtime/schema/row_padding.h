// What lies between the rows of a matrix product's operand.
#pragma once

#include <cstdint>

namespace trainc {

/// So few bytes before the next row are padding. It belongs to the row before it and may hold anything. More
/// is no part of the operand.
inline constexpr uint64_t kMostRowPadding = 15;

/// Bytes from which on, behind a row's first, something else may lie: of rows that are `stride` bytes apart.
inline constexpr uint64_t paddedRowBytes(uint64_t bytes, uint64_t stride) {
  return stride > bytes && stride - bytes <= kMostRowPadding ? stride : bytes;
}

} // namespace trainc
