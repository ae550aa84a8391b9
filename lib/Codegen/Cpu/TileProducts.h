// Micro-kernel that multiplies tiles of the matrix unit, packed by TilePacking.
#pragma once

#include "lib/Codegen/Cpu/Gemm.h"
#include "lib/Codegen/Cpu/MatrixUnit.h"

#include <utility>
#include <vector>

namespace trainc::codegen {

/// Tiles that are multiplied, and their layout in panels.
struct TileProducts {
  /// Pieces of A and of B whose products are summed, in order.
  std::vector<std::pair<int, int>> pieces;
  /// Bytes to the next piece, the next 16 lanes and the next kStepTerms terms.
  int64_t pieceBytes, halfBytes, stepBytes;
};

/// Fills a function ProductScheme::multiply. A call computes at most 32 rows.
void multiplyTiles(Emitter &emit, mlir::func::FuncOp function, const TileProducts &products,
                   const ProductSizes &sizes);

} // namespace trainc::codegen
