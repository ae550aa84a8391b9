// In which order the elements of a reduction are combined.
#pragma once

#include "lib/Codegen/Kernels/Emitter.h"
#include "lib/Support/StoredElement.h"

#include "llvm/ADT/bit.h"

namespace trainc::codegen {

/// The order of a reduction along a row, or of everything, follows from the number of elements and their type
/// alone, whatever ops share its kernel. A row is cut into pieces; of a piece, element i belongs to lane i %
/// `lanes`, and lanes add up in order, then by halves; then come the pieces, in order.
struct SumTree {
  static constexpr int64_t kPiece = 16384;

  SumTree(mlir::Type element, int64_t length)
      : lanes(std::min<int64_t>(elementBytes(element) == 8 ? 32 : 64, llvm::bit_ceil<uint64_t>(length))) {}

  int64_t lanes;
};

} // namespace trainc::codegen
