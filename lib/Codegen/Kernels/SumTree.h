// Order in which the elements of a reduction are combined.
#pragma once

#include "lib/Codegen/Kernels/Emitter.h"
#include "lib/Support/StoredElement.h"

#include "llvm/ADT/bit.h"

namespace trainc::codegen {

/// Order of a reduction along a row, or over everything, by one thread. It depends only on the number of
/// elements and their type, not on the ops that share the kernel. A row is cut into pieces. Element i of a
/// piece belongs to lane i % `lanes`. Each lane is summed in order, then lanes by halves, then pieces in
/// order.
struct SumTree {
  static constexpr int64_t kPiece = 16384;

  SumTree(mlir::Type element, int64_t length)
      : lanes(std::min<int64_t>(elementBytes(element) == 8 ? 32 : 64, llvm::bit_ceil<uint64_t>(length))) {}

  int64_t lanes;
};

/// Order of such a reduction by the threads of a block. It depends only on the number of elements. Thread t
/// has the vectors t, t + threads, ... of `lanes` elements, and one of the elements after the row's last
/// whole vector. These are summed in order, then lanes by halves, then threads by halves. Threads without
/// elements add nothing, so that any number of threads gives the same bits if each has one vector or the
/// block has its maximum of threads. A row longer than kWhole is cut into pieces of SumTree::kPiece, so that
/// several blocks can share it. Piece p belongs to thread p, and so does piece p + threads; threads are then
/// summed once more.
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
