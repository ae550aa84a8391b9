// Shuffles between threads of a warp, and reductions over threads of a block.
#pragma once

#include "dialects/NN/NN.h"
#include "lib/Codegen/Kernels/KernelFunction.h"

namespace trainc::codegen {

/// Number of threads in a warp.
inline constexpr int64_t kWarp = 32;

/// Returns the value of the warp's thread whose number differs in the bit `distance`. All threads of the warp
/// must execute this, as they must for the functions below.
mlir::Value fromNeighbour(Emitter &emit, mlir::Value value, int64_t distance);
/// Returns the value of thread `lane` (i64) of this warp.
mlir::Value fromLane(Emitter &emit, mlir::Value value, mlir::Value lane);
/// Reduces over each group of `lanes` adjacent threads, a power of two. All of them get the same bits.
mlir::Value reduceOverLanes(Emitter &emit, nn::ReduceKind kind, mlir::Value value, int64_t lanes);

/// Bytes of a block's memory for one reduction.
inline constexpr int64_t threadSumBytes(int64_t threads) {
  return threads > kWarp ? kBlockArrayAlignment *
                               ((threads / kWarp * 8 + kBlockArrayAlignment - 1) / kBlockArrayAlignment)
                         : 0;
}

/// Reductions over all threads of a block, or over each group of adjacent threads in a warp; all threads get
/// the result. Threads are combined by halves of ever smaller distance: first in each warp, then the warps.
/// The number of threads per block must be a power of two of at least kWarp.
class ThreadReduction {
public:
  /// Allocates memory for `count` reductions at a time. A group has `threads` threads: the whole block, or a
  /// power of two up to kWarp.
  ThreadReduction(KernelFunction &function, int64_t count, int64_t threads);

  /// Reduces each of `values`, of which there are at most `count`.
  llvm::SmallVector<mlir::Value> over(llvm::ArrayRef<nn::ReduceKind> kinds, mlir::ValueRange values);

private:
  KernelFunction &function;
  Emitter &emit;
  int64_t threads;
  llvm::SmallVector<mlir::Value> slots; ///< per reduction, an element for each warp
};

} // namespace trainc::codegen
