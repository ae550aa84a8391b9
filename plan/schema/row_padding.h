// Padding between the rows of a matrix product's operand.
#pragma once

#include <cstdint>

namespace trainc {

/// Maximum gap between rows that counts as padding: padding belongs to the row before it, and its content is
/// undefined. A larger gap is not part of the operand.
inline constexpr uint64_t kMaxRowPadding = 15;

/// Bytes of a row including its padding; `stride` is the distance of rows in bytes.
inline constexpr uint64_t paddedRowBytes(uint64_t bytes, uint64_t stride) {
  return stride > bytes && stride - bytes <= kMaxRowPadding ? stride : bytes;
}

} // namespace trainc
