// Packing into tiles of the matrix unit. A tile has 16 lanes by 32 bf16 terms, two of which form a word. Its
// layout is [lane][word] for A and [word][lane] for B.
#pragma once

#include "lib/Codegen/Cpu/Gemm.h"
#include "lib/Codegen/Cpu/MatrixUnit.h"

namespace trainc::codegen {

/// Fills a function ProductScheme::packA or packB. Derived classes define how numbers become words.
class TilePacking {
public:
  /// `element` is the type in which the matrix is read.
  TilePacking(Emitter &emit, mlir::func::FuncOp function, mlir::Type element, Side side, LaneOrder order)
      : emit(emit), side(side), order(order), to(function.getArgument(0)), element(element),
        from(function.getArgument(1)), stride(function.getArgument(2)), valid(function.getArgument(3)),
        depth(function.getArgument(4)) {}
  virtual ~TilePacking() = default;

  void run();

protected:
  /// Whether all lanes and terms of a block exist.
  enum class Inside { Whole, Edge };

  /// Returns the byte offset of the block that begins at a lane and a term.
  virtual mlir::Value offset(mlir::Value lane, mlir::Value term) = 0;
  /// Packs 16 lanes and kStepTerms terms.
  virtual void packBlock(mlir::Value tile, mlir::Value lane, mlir::Value term, Inside inside) = 0;
  /// Returns vector `i` of a square: if terms are contiguous, 16 words of lane `lane` + i from `term` on;
  /// otherwise word i from `term` on of 16 lanes.
  virtual mlir::Value words(mlir::Value lane, mlir::Value term, int64_t i, Inside inside) = 0;

  /// Returns 16 lanes by 16 words as the rows of a tile.
  llvm::SmallVector<mlir::Value> square(mlir::Value lane, mlir::Value term, Inside inside);
  /// Loads `count` terms of lane `lane` + i from `term` on; terms beyond the depth are zero. Lanes past the
  /// last repeat it.
  mlir::Value loadTerms(mlir::Value lane, int64_t i, mlir::Value term, int64_t count, Inside inside);
  /// Loads 16 lanes of term `term` + i; zero beyond the depth.
  mlir::Value loadLanes(mlir::Value lane, mlir::Value term, int64_t i, Inside inside);

  mlir::VectorType integers() const;

  Emitter &emit;
  const Side side;
  const LaneOrder order;
  const mlir::Value to;

private:
  void block(mlir::Value lane, mlir::Value term);
  void prefetchLater(mlir::Value row, mlir::Value column);

  const mlir::Type element;
  const mlir::Value from, stride, valid, depth;
};

} // namespace trainc::codegen
