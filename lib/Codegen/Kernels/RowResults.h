// Stores of a row kernel: results, values that later passes read back, elements that a later launch reduces.
#pragma once

#include "lib/Codegen/Kernels/RowValues.h"

namespace trainc::codegen {

class RowResults {
public:
  RowResults(RowAccess &access, RowValues &values)
      : access(access), values(values), plan(access.plan), emit(access.emit) {}

  /// Stores a value's elements in a step.
  void storeStep(const ColumnStep &step, RowState &row, mlir::Value value);
  /// Stores zeros, so that repeated runs give the same bytes and a search for NaN finds none. With
  /// `isShared`, all threads execute this.
  void storePadding(RowState &row, bool isShared);
  /// Stores the row's results that do not vary along columns, and its padding.
  void finishRow(RowState &row);
  void storeRowScalars(RowState &row);
  /// Stores results that are the same in all rows and columns, in the first tile.
  void storeTileScalars(mlir::Value tile);

private:
  void storeRowReductions(RowState &row);

  RowAccess &access;
  RowValues &values;
  const RowsPlan &plan;
  Emitter &emit;
};

} // namespace trainc::codegen
