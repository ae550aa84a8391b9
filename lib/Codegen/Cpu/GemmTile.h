// Tiles of a matrix product: their number, and the code that computes one tile.
#pragma once

#include "lib/Codegen/Cpu/Gemm.h"

#include "dialects/NN/NN.h"

namespace trainc::codegen {

/// A product: its sizes, and the element types of its factors and its result.
struct Product {
  explicit Product(GemmOpInterface op);

  GemmShape shape;
  mlir::Type factor, result;

  /// Whether sums are kept in f32 and rounded to the result's type at the end.
  bool roundsResult() const;
};

/// A tile of C, which one thread computes, and the number of tiles that cover C.
struct TileGrid {
  TileGrid(const GemmShape &gemm, const ProductSizes &sizes);

  int64_t rows, columns, tilesDown, tilesAcross;

  /// Number of tiles per matrix.
  int64_t tiles() const { return tilesDown * tilesAcross; }

private:
  void divide(int64_t down, int64_t across);

  const GemmShape &gemm;
  const ProductSizes &sizes;
};

/// A tile's memory of a block's own.
struct TileMemory {
  TileMemory(const Product &product, const ProductSizes &sizes, const TileGrid &grid);

  int64_t bytesA, bytesB; ///< of panels; those of A are 0 if its rows are read in place
  /// f32 sums of elements of C that are rounded at the end, in rows of a tile's length: sums of one call of
  /// the micro-kernel if there is a single block of terms, otherwise of the whole tile.
  int64_t sumRows, sums;
};

/// Convert between rows of C, of type `low`, and their sums: functions (c, sums: pointers; row stride of c,
/// of the sums, rows, columns: i64). The sums have room for kSumLanes more columns.
mlir::func::FuncOp roundRows(KernelModule &kernels, mlir::Type low);
mlir::func::FuncOp widenRows(KernelModule &kernels, mlir::Type low);
inline constexpr int64_t kSumLanes = 16;

/// Generates the code of tiles.
class GemmTile {
public:
  struct Pointers {
    mlir::Value a, b, c, panelsA = {}, panelsB = {}; ///< panelsA is null if rows of A are read in place
    mlir::Value sums = {};                           ///< null if the result is not rounded
  };

  GemmTile(KernelModule &kernels, Emitter &emit, const Product &product, const TileGrid &grid,
           const TileMemory &memory, const ProductScheme &scheme, const Pointers &pointers)
      : kernels(kernels), emit(emit), product(product), gemm(product.shape), grid(grid), memory(memory),
        scheme(scheme), at(pointers) {}

  /// Computes the tiles [begin, end) of the tiles of all matrices. Tiles of the same columns follow each
  /// other and share the panels of B.
  void compute(mlir::Value begin, mlir::Value end);

private:
  /// Rows [row, endRow) of one or more tiles of a matrix, and their columns.
  struct Area {
    mlir::Value matrix, row, endRow, column;
    mlir::Value adds; ///< 1 if the first block of terms adds to C
  };
  /// One block of terms of one matrix.
  struct Block {
    mlir::Value depth;
    mlir::Value adds;                    ///< 1 if the block adds to earlier sums
    mlir::Value opens = {}, closes = {}; ///< whether the block is the first or last of rounded sums
    mlir::Value nextB = {},
                lastNextB = {}; ///< the block of B that is packed next, and its last row as stored
  };
  /// The rows of one tile for one block of terms.
  struct Strip {
    mlir::Value fromA, baseC, rows, columns; ///< fromA: the first term of the first row
    mlir::Value calls;                       ///< of the micro-kernel for this block of terms before the strip
    mlir::Value nextA = {};                  ///< the block of A that is packed next; null without panels of A
  };

  void compute(const Area &area);
  Block block(mlir::Value matrix, mlir::Value first, mlir::Value depth, mlir::Value adds);
  void multiplyPanels(const Strip &strip, const Block &block);
  void multiplyRounded(mlir::Value i, const Strip &strip, const Block &block);
  void multiply(mlir::Value i, mlir::Value j, mlir::Value to, int64_t stride, const Strip &strip,
                const Block &block);
  mlir::Value nextRowsOfA(mlir::Value i, mlir::Value across, mlir::Value done, const Strip &strip);
  mlir::Value nextRowsOfB(mlir::Value done, const Block &block);

  mlir::Value select(mlir::Value condition, mlir::Value ifTrue, mlir::Value ifFalse);
  /// Number of calls of the micro-kernel for all columns of a tile.
  int64_t callsAcross() const;
  mlir::Value pointerTo(mlir::Value base, mlir::Value offset, mlir::Value lane, mlir::Value term,
                        int64_t stride, bool lanesAreRows);
  mlir::Value panelAt(mlir::Value panels, mlir::Value lane, int64_t width);
  void call(mlir::func::FuncOp callee, llvm::ArrayRef<mlir::Value> args);

  KernelModule &kernels;
  Emitter &emit;
  const Product &product;
  const GemmShape &gemm;
  const TileGrid &grid;
  const TileMemory &memory;
  const ProductScheme &scheme;
  const Pointers at;
};

} // namespace trainc::codegen
