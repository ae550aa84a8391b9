// Code generation of a row kernel from its plan.
#pragma once

#include "lib/Codegen/Kernels/ColumnSums.h"
#include "lib/Codegen/Kernels/Reductions.h"
#include "lib/Codegen/Kernels/RowResults.h"

namespace trainc::codegen {

/// The loops of a row kernel: tiles, rows, passes over columns.
class RowsEmitter {
public:
  RowsEmitter(const RowsPlan &plan, const LaunchSummary &launch, KernelModule &kernels);
  /// Returns the kernel's symbol.
  std::string run();

private:
  void tile(mlir::Value tile);
  void linearStep(mlir::Value tile);
  void stepWithTail(mlir::Value column, RowState &row);
  void rowsOfTile(mlir::Value first, mlir::Value end, int64_t count);
  void rowBlock(mlir::Value first, int64_t count);
  void pass(int64_t pass, llvm::MutableArrayRef<RowState> rows);
  void startSums(int64_t pass, llvm::ArrayRef<RowState> rows);
  llvm::SmallVector<mlir::Value> piece(int64_t pass, llvm::MutableArrayRef<RowState> rows, mlir::Value begin,
                                       mlir::Value end);
  /// Returns the loop-carried values of column loops with steps of `lanes` lanes.
  llvm::SmallVector<mlir::Value *> held(int64_t lanes);
  void step(const ColumnStep &step, llvm::MutableArrayRef<RowState> rows);

  const RowsPlan &plan;
  KernelFunction function;
  Emitter &emit;
  RowAccess access;
  RowValues values;
  ColumnSums columnSums;
  RowResults results;
  /// Reductions along columns of the current pass, for each row of the row block.
  llvm::SmallVector<LaneSum> sums;
  std::optional<ThreadReduction> threadSums;
};

} // namespace trainc::codegen
