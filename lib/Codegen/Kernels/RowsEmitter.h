// Code generation of a row kernel from its plan.
#pragma once

#include "lib/Codegen/Kernels/KernelFunction.h"
#include "lib/Codegen/Kernels/Reductions.h"
#include "lib/Codegen/Kernels/RowsPlan.h"

namespace trainc::codegen {

/// Values computed so far for one row: those of the whole row, and those of the current column step.
struct RowState {
  mlir::Value row;                                     ///< i64
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;    ///< values that do not vary along columns
  llvm::DenseMap<mlir::Value, mlir::Value> mappedRows; ///< of each value, the corresponding row
  llvm::DenseMap<mlir::Value, mlir::Value> found;      ///< for gathers: whether the id is in range
  llvm::DenseMap<mlir::Value, mlir::Value> lanes;      ///< vectors in the current column step
};

/// A reduction along a row by one thread, over vectors of its elements. If the reduction tree has more lanes
/// than a vector, the lanes are in memory.
class LaneSum {
public:
  LaneSum(KernelFunction &function, nn::ReduceOp op, int64_t treeLanes, int64_t vectorLanes);

  void start();
  /// Adds `elements`, the first of which is in column `column`.
  void add(mlir::Value elements, mlir::Value column, Mask mask);
  /// Returns the sum of all lanes.
  mlir::Value total();

  mutable nn::ReduceOp op;
  /// Lanes that loops carry; null if they are in memory.
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
  /// A column step: columns [column, column + lanes), of which those in `mask` exist.
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
  /// Returns the loop-carried values of column loops with steps of `lanes` lanes.
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

  /// A position along a row. Rows begin at multiples of `alignment` elements; see load() and store().
  struct Place {
    Address address;
    int64_t alignment;
  };
  int64_t pieceOf(const Place &place, const Step &step) const;
  mlir::Value load(const Place &from, const Step &step);
  void store(mlir::Value value, const Place &to, const Step &step);
  Place partial(const TileReduction &reduction, mlir::Value column);
  Place inBlock(unsigned array, mlir::Type element, mlir::Value column);
  Place inResult(unsigned result, mlir::Type element, RowState &row, mlir::Value column);
  mlir::Value columnCount(); ///< of the current row, i64
  mlir::Value firstColumn(); ///< of this thread
  mlir::Value rowThread();   ///< number of this thread among those of its row, in all blocks
  mlir::Value rowOfBlock();  ///< number of this thread's row among those processed at once
  void onceARow(llvm::function_ref<void()> body);
  mlir::Value isZero(mlir::Value number);
  int64_t columnStep() const { return plan.lanes * plan.rowThreads(); }
  /// Whether a row has elements after its last whole vector.
  bool hasTail() const { return (plan.flat ? plan.facts.columns : plan.columns) % plan.lanes != 0; }
  bool isTileScalar(mlir::Value value) const;

  const RowsPlan &plan;
  KernelFunction function;
  Emitter &emit;
  llvm::SmallVector<mlir::Value> inputs, outputs, scratch, blockRows;
  RowState shared; ///< values that are the same in all rows and columns
  /// Reductions along columns of the current pass, for each row of the row block.
  llvm::SmallVector<LaneSum> sums;
  std::optional<ThreadReduction> threadSums;
  /// This thread's column sums over rows: `vector` for its vector of columns, and `rest` for its column after
  /// the last whole vector.
  struct ColumnSum {
    const TileReduction *reduction;
    mlir::Value vector, rest;
  };
  llvm::SmallVector<ColumnSum> columnSums;
  mlir::Value currentTile;       ///< number of the current tile of rows
  mlir::Value currentColumnTile; ///< number of the current tile of columns; null if there is only one
};

/// Reduces a row of `end` (i64, at most `most`) elements by all threads of a block, in the order of
/// ThreadTree. `piece(begin, end)` returns this thread's result over the elements [begin, end) for each of
/// `ops`.
llvm::SmallVector<mlir::Value>
reducePieces(ThreadReduction &threads, KernelFunction &function, llvm::ArrayRef<nn::ReduceOp> ops,
             int64_t most, mlir::Value end,
             llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::Value)> piece);

/// Reduce a row of `count` elements in memory, by one thread or by all threads of a block. The bits equal
/// those of a kernel that computes the elements instead of loading them.
mlir::Value reduceRow(Emitter &emit, nn::ReduceOp op, mlir::Value row, int64_t count);
mlir::Value reduceRow(ThreadReduction &threads, KernelFunction &function, nn::ReduceOp op, mlir::Value row,
                      int64_t count);

/// Adds the launches that combine the tiles' partial results: at most two, each for all reductions of one
/// width.
void summariseFinish(const RowsPlan &plan, KernelSummary &kernels);
/// Generates the code of a launch that summariseFinish() added, and returns its symbol.
std::string emitFinish(const RowsPlan &plan, const LaunchSummary &launch, KernelModule &kernels);

} // namespace trainc::codegen
