// The tiles of a matrix product: how many there are, and the code that computes one.
#pragma once

#include "lib/Codegen/Cpu/Gemm.h"

#include "dialects/NN/NN.h"

namespace trainc::codegen {

/// A product: its sizes, and the element types of its factors and its result.
struct Product {
  explicit Product(GemmOpInterface op);

  GemmShape shape;
  mlir::Type factor, result;

  /// Whether sums are kept in f32 until the result is rounded.
  bool roundsResult() const;
};

/// A tile of C, which one thread computes, and how many cover C: some of them where there are few.
struct TileGrid {
  TileGrid(const GemmShape &gemm, const ProductSizes &sizes);

  int64_t rows, columns, tilesDown, tilesAcross;

  /// Tiles of one matrix.
  int64_t tiles() const { return tilesDown * tilesAcross; }

private:
  void divide(int64_t down, int64_t across);

  const GemmShape &gemm;
  const ProductSizes &sizes;
};

/// What a tile needs of a block's own memory.
struct TileMemory {
  TileMemory(const Product &product, const ProductSizes &sizes, const TileGrid &grid);

  int64_t bytesA, bytesB; ///< of panels
  /// f32 sums for elements of C that are rounded in the end, in rows as long as a tile's: of one call of the
  /// micro-kernel where one block of terms is all, else of the tile.
  int64_t sumRows, sums;
};

/// Between rows of C, of type `low`, and their sums: functions (c, sums: pointers; row stride of c, of the
/// sums, rows, columns: i64). The sums have room for kSumLanes columns more.
mlir::func::FuncOp roundRows(KernelModule &kernels, mlir::Type low);
mlir::func::FuncOp widenRows(KernelModule &kernels, mlir::Type low);
inline constexpr int64_t kSumLanes = 16;

/// Builds the code for tiles.
class GemmTile {
public:
  struct Pointers {
    mlir::Value a, b, c, panelsA = {}, panelsB = {};
    mlir::Value sums = {}; ///< null where the result is not rounded
  };

  GemmTile(KernelModule &kernels, Emitter &emit, const Product &product, const TileGrid &grid,
           const TileMemory &memory, const ProductScheme &scheme, const Pointers &pointers)
      : kernels(kernels), emit(emit), product(product), gemm(product.shape), grid(grid), memory(memory),
        scheme(scheme), at(pointers) {}

  /// Tile `index` of all matrices'.
  void compute(mlir::Value index);

private:
  /// One block of terms of one matrix.
  struct Block {
    mlir::Value depth;
    mlir::Value adds;                    ///< 1 if it adds to earlier sums
    mlir::Value opens = {}, closes = {}; ///< whether it is the first or last, of sums that are rounded
  };

  void tile(mlir::Value matrix, mlir::Value row, mlir::Value column, mlir::Value adds);
  Block block(mlir::Value matrix, mlir::Value first, mlir::Value depth, mlir::Value adds);
  void multiplyPanels(mlir::Value baseC, mlir::Value rows, mlir::Value columns, const Block &block);
  void multiplyRounded(mlir::Value i, mlir::Value baseC, mlir::Value rows, mlir::Value columns,
                       const Block &block);
  void multiply(mlir::Value i, mlir::Value j, mlir::Value to, int64_t stride, mlir::Value rows,
                mlir::Value columns, const Block &block);

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
