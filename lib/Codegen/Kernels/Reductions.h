// Combiners of reductions, and reductions of rows.
#pragma once

#include "dialects/NN/NN.h"
#include "lib/Codegen/Kernels/KernelFunction.h"
#include "lib/Codegen/Kernels/Threads.h"

namespace trainc::codegen {

/// Returns the type in which a reduction sums before its result is rounded.
mlir::Type sumElement(nn::ReduceOp op);
mlir::Value identityOf(Emitter &emit, nn::ReduceKind kind, mlir::Type type);
mlir::Value combine(Emitter &emit, nn::ReduceKind kind, mlir::Value a, mlir::Value b);
/// Combines the lanes by halves: lane i with lane i + n/2, and so on.
mlir::Value combineLanes(Emitter &emit, nn::ReduceKind kind, mlir::Value vector);
/// Divides a sum by the number of elements if the reduction is a mean.
mlir::Value scaleMean(Emitter &emit, nn::ReduceOp reduce, mlir::Value value);

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

/// Reduces a row of `end` (i64, at most `maximum`) elements by all threads of a block, in the order of
/// ThreadTree. `piece(begin, end)` returns this thread's result over the elements [begin, end) for each of
/// `ops`.
llvm::SmallVector<mlir::Value>
reducePieces(ThreadReduction &threads, KernelFunction &function, llvm::ArrayRef<nn::ReduceOp> ops,
             int64_t maximum, mlir::Value end,
             llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::Value)> piece);

/// Reduce a row of `count` elements in memory, by one thread or by all threads of a block. The bits equal
/// those of a kernel that computes the elements instead of loading them.
mlir::Value reduceRow(Emitter &emit, nn::ReduceOp op, mlir::Value row, int64_t count);
mlir::Value reduceRow(ThreadReduction &threads, KernelFunction &function, nn::ReduceOp op, mlir::Value row,
                      int64_t count);

} // namespace trainc::codegen
