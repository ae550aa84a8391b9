// In which order the elements of a reduction are combined.
#pragma once

#include "lib/Codegen/Kernels/Emitter.h"
#include "lib/Support/StoredElement.h"

#include "llvm/ADT/bit.h"

namespace trainc::codegen {

/// The order of a reduction along a row, or of everything, by one thread follows from the number of elements
/// and their type alone, whatever ops share its kernel. A row is cut into pieces; of a piece, element i
/// belongs to lane i % `lanes`, and lanes add up in order, then by halves; then come the pieces, in order.
struct SumTree {
  static constexpr int64_t kPiece = 16384;

  SumTree(mlir::Type element, int64_t length)
      : lanes(std::min<int64_t>(elementBytes(element) == 8 ? 32 : 64, llvm::bit_ceil<uint64_t>(length))) {}

  int64_t lanes;
};

/// The order of such a reduction by the threads of a block follows from the number of elements alone. Thread
/// t has the vectors t, t + threads, ... of `lanes` elements, and one of the elements that vectors leave at
/// the row's end: they add up in order, lanes by halves, then threads by halves. Threads that have nothing
/// add nothing, so that any number of threads gives the same bits, if each has one vector or there are as
/// many as a block has at most. A row longer than kWhole is cut into pieces of SumTree::kPiece, so that
/// several blocks can share it. Piece p is thread p's, and so is piece p + threads; threads are added up once
/// more.
struct ThreadTree {
  static constexpr int64_t kLanes = 8, kWhole = 65536;

  /// Shorter rows are cut into equal vectors.
  explicit ThreadTree(int64_t length) {
    while (length < kLanes && length % lanes != 0)
      lanes /= 2;
  }

  int64_t lanes = kLanes;
};

} // namespace trainc::codegen
