// Addresses of a row kernel: its arguments, and places along rows.
#pragma once

#include "lib/Codegen/Kernels/KernelFunction.h"
#include "lib/Codegen/Kernels/RowsPlan.h"

namespace trainc::codegen {

/// A column step: columns [column, column + lanes), of which those in `mask` exist.
struct ColumnStep {
  int64_t pass;
  mlir::Value column;
  int64_t lanes;
  Mask mask;
};

/// A position along a row. Rows begin at multiples of `alignment` elements; see RowAccess::load() and
/// store().
struct RowPlace {
  Address address;
  int64_t alignment;
};

/// The kernel's arguments, the thread's rows and columns in the current tile, and accesses to rows.
class RowAccess {
public:
  RowAccess(const RowsPlan &plan, KernelFunction &function);

  /// Enters the tile with number `index` of the grid.
  void enterTile(mlir::Value index);
  mlir::Value tile() const { return currentTile; } ///< number of the current tile of rows
  mlir::Value columnCount();                       ///< of the current row, i64
  mlir::Value firstColumn();                       ///< of this thread
  mlir::Value rowThread();  ///< number of this thread among those of its row, in all blocks
  mlir::Value rowOfBlock(); ///< number of this thread's row among those processed at once
  int64_t columnStep() const { return plan.lanes * plan.rowThreads(); }
  /// Whether a row has elements after its last whole vector.
  bool hasTail() const { return (plan.flat ? plan.facts.columns : plan.columns) % plan.lanes != 0; }
  /// Synchronises, and then runs `body` on one thread of each row.
  void onceARow(llvm::function_ref<void()> body);
  mlir::Value isZero(mlir::Value number);

  mlir::Value load(const RowPlace &from, const ColumnStep &step);
  void store(mlir::Value value, const RowPlace &to, const ColumnStep &step);
  /// Returns a place in a row buffer of the block's memory.
  RowPlace inBlock(unsigned array, mlir::Type element, mlir::Value column);
  RowPlace inResult(unsigned result, mlir::Type element, mlir::Value row, mlir::Value column);
  /// Returns the place of the current tile's partial result, or of the result itself if it is direct.
  RowPlace partial(const TileReduction &reduction, mlir::Value column);

  const RowsPlan &plan;
  KernelFunction &function;
  Emitter &emit;
  llvm::SmallVector<mlir::Value> inputs, outputs, scratch;

private:
  int64_t pieceOf(const RowPlace &place, const ColumnStep &step) const;

  llvm::SmallVector<mlir::Value> blockRows;
  mlir::Value currentTile;
  mlir::Value currentColumnTile; ///< number of the current tile of columns; null if there is only one
};

} // namespace trainc::codegen
