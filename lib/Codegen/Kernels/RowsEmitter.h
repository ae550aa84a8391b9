// Builds the code of a row kernel from its plan.
#pragma once

#include "lib/Codegen/Kernels/KernelFunction.h"
#include "lib/Codegen/Kernels/Reductions.h"
#include "lib/Codegen/Kernels/RowsPlan.h"

namespace trainc::codegen {

/// The code of one row: what is known per row, and the lanes of the current column step.
struct RowState {
  mlir::Value row;                                     ///< i64
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;    ///< of values that do not vary along columns
  llvm::DenseMap<mlir::Value, mlir::Value> mappedRows; ///< which row of a value this is
  llvm::DenseMap<mlir::Value, mlir::Value> found;      ///< of gathers: the id is in range
  llvm::DenseMap<mlir::Value, mlir::Value> lanes;      ///< in the current column step
};

/// A reduction along a row while vectors of its elements pass by one thread. Where its tree has more lanes
/// than a vector, they are in memory.
class LaneSum {
public:
  LaneSum(KernelFunction &function, nn::ReduceOp op, int64_t treeLanes, int64_t vectorLanes);

  void start();
  /// Adds elements from `column` on.
  void add(mlir::Value elements, mlir::Value column, Mask mask);
  /// The lanes together.
  mlir::Value total();

  mutable nn::ReduceOp op;
  /// The lanes, which loops carry; null where they are in memory.
  mlir::Value carried;

private:
  mlir::Value identity(int64_t lanes);

  Emitter &emit;
  mlir::Type element;
  int64_t lanes, vectorLanes;
  mlir::Value memory;
};

class RowsEmitter {
public:
  RowsEmitter(const RowsPlan &plan, const LaunchSummary &launch, KernelModule &kernels);
  /// Returns the kernel's symbol.
  std::string run();

private:
  /// A column step: columns [column, column + lanes), of which `mask` are real.
  struct Step {
    int64_t pass;
    mlir::Value column;
    int64_t lanes;
    Mask mask;
  };

  // RowsLoops.cpp
  void findArguments();
  void tile(mlir::Value tile);
  void linearStep(mlir::Value tile);
  void stepWithTail(mlir::Value column, RowState &row);
  void rowsOfTile(mlir::Value first, mlir::Value end, int64_t count);
  void rowBlock(mlir::Value first, int64_t count);
  void pass(int64_t pass, llvm::MutableArrayRef<RowState> rows);
  void startSums(int64_t pass, llvm::ArrayRef<RowState> rows);
  llvm::SmallVector<mlir::Value> piece(int64_t pass, llvm::MutableArrayRef<RowState> rows, mlir::Value begin,
                                       mlir::Value end);
  /// What loops over columns carry whose steps have so many lanes.
  llvm::SmallVector<mlir::Value *> held(int64_t lanes);
  void step(const Step &step, llvm::MutableArrayRef<RowState> rows);

  // RowsResults.cpp
  void storeStep(const Step &step, RowState &row, mlir::Value value);
  void storePadding(RowState &row, bool isShared);
  void addToColumnSums(const Step &step, llvm::MutableArrayRef<RowState> rows);
  void startColumnSums();
  void clearPartials(const TileReduction &reduction);
  void storeColumnSums();
  void finishRow(RowState &row);
  void storeRowReductions(RowState &row);
  void storeRowScalars(RowState &row);
  void storeScalars(mlir::Value tile);

  // RowsValues.cpp
  mlir::Value lanes(mlir::Value value, RowState &row, const Step &step);
  mlir::Value computeLanes(mlir::Value value, RowState &row, const Step &step);
  mlir::Value loadLanes(mlir::Value argument, RowState &row, const Step &step);
  mlir::Value scalar(mlir::Value value, RowState &row);
  void rowScalars(int64_t depth, RowState &row);
  void tileScalars();
  void computeScalar(mlir::Value value, RowState &row);
  mlir::Value mappedRow(mlir::Value value, RowState &row);
  mlir::Value gatherRow(nn::GatherOp gather, RowState &row);
  mlir::Value body(mlir::Operation *op, mlir::ValueRange operands, int64_t laneCount, mlir::Value linearBase,
                   mlir::Value column);

  /// A place along a row, of rows that begin on multiples of `border` elements; see load() and store().
  struct Place {
    Address address;
    int64_t border;
  };
  int64_t pieceOf(const Place &place, const Step &step) const;
  mlir::Value load(const Place &from, const Step &step);
  void store(mlir::Value value, const Place &to, const Step &step);
  Place partial(const TileReduction &reduction, mlir::Value column);
  Place inBlock(unsigned array, mlir::Type element, mlir::Value column);
  Place inResult(unsigned result, mlir::Type element, RowState &row, mlir::Value column);
  mlir::Value columnCount(); ///< of the current row, i64
  mlir::Value firstColumn(); ///< of this thread
  mlir::Value rowThread();   ///< this thread's number among those of its row, in all blocks
  mlir::Value rowOfBlock();  ///< this thread's, among those at once
  void onceARow(llvm::function_ref<void()> body);
  mlir::Value isZero(mlir::Value number);
  int64_t columnStep() const { return plan.lanes * plan.rowThreads(); }
  /// Whether vectors leave elements of a row over.
  bool hasTail() const { return (plan.flat ? plan.facts.columns : plan.columns) % plan.lanes != 0; }
  bool isTileScalar(mlir::Value value) const;

  const RowsPlan &plan;
  KernelFunction function;
  Emitter &emit;
  llvm::SmallVector<mlir::Value> inputs, outputs, scratch, blockRows;
  RowState shared; ///< values that do not vary at all
  /// Of the reductions along columns of the current pass, for each row of the block.
  llvm::SmallVector<LaneSum> sums;
  std::optional<ThreadReduction> threadSums;
  /// Where this thread holds a sum of its columns over rows: of its vector, and of its element of those that
  /// vectors leave.
  struct ColumnSum {
    const TileReduction *reduction;
    mlir::Value vector, rest;
  };
  llvm::SmallVector<ColumnSum> columnSums;
  mlir::Value currentTile;       ///< of rows
  mlir::Value currentColumnTile; ///< null if there is one
};

/// Reductions of a row that `end` (i64, at most `most`) ends by all threads of a block, in the order of
/// ThreadTree. `piece`: what this thread makes of the elements from one number to another, for each of `ops`.
llvm::SmallVector<mlir::Value>
reducePieces(ThreadReduction &threads, KernelFunction &function, llvm::ArrayRef<nn::ReduceOp> ops,
             int64_t most, mlir::Value end,
             llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::Value)> piece);

/// The reduction of a row of `count` elements in memory, by one thread, and by all of a block: the same bits
/// as those of a kernel that makes the elements.
mlir::Value reduceRow(Emitter &emit, nn::ReduceOp op, mlir::Value row, int64_t count);
mlir::Value reduceRow(ThreadReduction &threads, KernelFunction &function, nn::ReduceOp op, mlir::Value row,
                      int64_t count);

/// The launch (or two) that combine the tiles' partial results: one for all reductions of one width.
void summariseFinish(const RowsPlan &plan, KernelSummary &kernels);
/// The code of such a launch; returns its symbol.
std::string emitFinish(const RowsPlan &plan, const LaunchSummary &launch, KernelModule &kernels);

} // namespace trainc::codegen
