// The micro-kernel that multiplies tiles of the matrix unit, which TilePacking has packed.
#pragma once

#include "lib/Codegen/Cpu/Gemm.h"
#include "lib/Codegen/Cpu/MatrixUnit.h"

#include <utility>
#include <vector>

namespace trainc::codegen {

/// Which tiles are multiplied, and where they lie in panels.
struct TileProducts {
  /// Pieces of A and of B whose products are added up, one after the other.
  std::vector<std::pair<int, int>> pieces;
  /// Bytes to the next piece, the next 16 lanes and the next kStepTerms terms.
  int64_t pieceBytes, halfBytes, stepBytes;
};

/// Fills a function ProductScheme::multiply. A call computes 32 rows at most.
void multiplyTiles(Emitter &emit, mlir::func::FuncOp function, const TileProducts &products,
                   const ProductSizes &sizes);

} // namespace trainc::codegen
