// Values of a row kernel: loads, bodies, gathers.
#pragma once

#include "lib/Codegen/Kernels/RowAccess.h"

namespace trainc::codegen {

/// Values computed so far for one row: those of the whole row, and those of the current column step.
struct RowState {
  mlir::Value row;                                     ///< i64
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;    ///< values that do not vary along columns
  llvm::DenseMap<mlir::Value, mlir::Value> mappedRows; ///< of each value, the corresponding row
  llvm::DenseMap<mlir::Value, mlir::Value> found;      ///< for gathers: whether the id is in range
  llvm::DenseMap<mlir::Value, mlir::Value> lanes;      ///< vectors in the current column step
};

/// Computes each value once: for a tile, a row, or a column step.
class RowValues {
public:
  explicit RowValues(RowAccess &access)
      : access(access), plan(access.plan), function(access.function), emit(access.emit) {}

  /// Whether a value is a scalar or, in flat kernels, has one element for the row.
  bool isTileScalar(mlir::Value value) const;
  /// Computes the tile's scalars; those of the tile before are forgotten.
  void startTile();
  /// Computes the row's values that pass `depth` needs and that do not vary along columns.
  void startPass(int64_t depth, RowState &row);

  /// Returns a value that does not vary along columns.
  mlir::Value scalar(mlir::Value value, RowState &row);
  mlir::Value tileScalar(mlir::Value value) { return scalar(value, shared); }
  /// Returns the elements of a value in a step.
  mlir::Value lanes(mlir::Value value, RowState &row, const ColumnStep &step);

private:
  mlir::Value computeLanes(mlir::Value value, RowState &row, const ColumnStep &step);
  mlir::Value loadLanes(mlir::Value argument, RowState &row, const ColumnStep &step);
  void computeScalar(mlir::Value value, RowState &row);
  mlir::Value mappedRow(mlir::Value value, RowState &row);
  mlir::Value gatherRow(nn::GatherOp gather, RowState &row);
  mlir::Value body(mlir::Operation *op, mlir::ValueRange operands, int64_t laneCount, mlir::Value linearBase,
                   mlir::Value column);

  RowAccess &access;
  const RowsPlan &plan;
  KernelFunction &function;
  Emitter &emit;
  RowState shared; ///< values that are the same in all rows and columns
};

} // namespace trainc::codegen
