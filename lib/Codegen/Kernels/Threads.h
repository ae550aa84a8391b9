// Numbers that threads of a block give each other, and reductions over them.
#pragma once

#include "dialects/NN/NN.h"
#include "lib/Codegen/Kernels/KernelFunction.h"

namespace trainc::codegen {

/// Threads that run in step.
inline constexpr int64_t kWarp = 32;

/// The value of the thread of this warp whose number differs in the bit `distance`. All threads of the warp
/// run this, as the others of its kind.
mlir::Value fromNeighbour(Emitter &emit, mlir::Value value, int64_t distance);
/// The value of the thread `lane` (i64) of this warp.
mlir::Value fromLane(Emitter &emit, mlir::Value value, mlir::Value lane);
/// A reduction over each group of so many neighbours, a power of two. All of them get the same bits.
mlir::Value reduceOverLanes(Emitter &emit, nn::ReduceKind kind, mlir::Value value, int64_t lanes);

/// What one reduction takes of a block's memory.
inline constexpr int64_t threadSumBytes(int64_t threads) {
  return threads > kWarp ? kBlockArrayAlignment *
                               ((threads / kWarp * 8 + kBlockArrayAlignment - 1) / kBlockArrayAlignment)
                         : 0;
}

/// Reductions over all threads of a block, which get the result, or over each of several groups of neighbours
/// in warps. Threads are combined by halves of ever smaller distance: first in each warp, then the warps. The
/// block has a power of two of threads, from kWarp on.
class ThreadReduction {
public:
  /// Takes memory for `count` reductions at a time. `threads`: of a group, all of the block or a power of two
  /// up to kWarp.
  ThreadReduction(KernelFunction &function, int64_t count, int64_t threads);

  /// One reduction for each of `values`, of which there are at most `count`.
  llvm::SmallVector<mlir::Value> over(llvm::ArrayRef<nn::ReduceKind> kinds, mlir::ValueRange values);

private:
  KernelFunction &function;
  Emitter &emit;
  int64_t threads;
  llvm::SmallVector<mlir::Value> slots; ///< of a reduction: an element for each warp
};

} // namespace trainc::codegen
