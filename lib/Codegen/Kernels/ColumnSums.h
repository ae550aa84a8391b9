// Sums of columns over the rows of a tile.
#pragma once

#include "lib/Codegen/Kernels/RowValues.h"

namespace trainc::codegen {

/// Sums that threads keep in registers while they process rows if the plan says so (holdsColumnSums), else in
/// memory.
class ColumnSums {
public:
  ColumnSums(RowAccess &access, RowValues &values)
      : access(access), values(values), plan(access.plan), emit(access.emit) {}

  /// Starts the sums of a tile.
  void start();
  /// Adds the rows' elements in a step.
  void add(const ColumnStep &step, llvm::MutableArrayRef<RowState> rows);
  /// Stores the sums that threads keep in registers.
  void store();
  /// Returns the registers that a loop over rows carries.
  llvm::SmallVector<mlir::Value *> heldInRows();
  /// Returns the registers that a loop over columns with steps of `lanes` lanes carries.
  llvm::SmallVector<mlir::Value *> heldInColumns(int64_t lanes);

private:
  /// This thread's sums: `vector` for its vector of columns, and `rest` for its column after the last whole
  /// vector.
  struct Registers {
    const TileReduction *reduction;
    mlir::Value vector, rest;
  };

  void clearPartials(const TileReduction &reduction);

  RowAccess &access;
  RowValues &values;
  const RowsPlan &plan;
  Emitter &emit;
  llvm::SmallVector<Registers> registers;
};

} // namespace trainc::codegen
