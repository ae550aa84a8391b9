// Matrix products that the threads of a warp make together, with sums in their registers.
//
// A warp's matrix has kWarpRows rows, and columns in strips of kStripColumns. Its 32 threads are eight groups
// of four neighbours. Of each strip, a thread has two neighbouring columns of the row of its group, and of
// the row eight below: four elements, of which element 2 * half + side lies in row `half` and column `side`.
// So tensor cores have the sums of products (PTX ISA 8.0, mma.m16n8k16), and the same threads have the same
// elements where no tensor core multiplies.
#pragma once

#include "lib/Codegen/Kernels/KernelFunction.h"

namespace trainc::codegen::cuda {

inline constexpr int64_t kWarpRows = 16, kStripColumns = 8;

/// A thread's elements of a matrix of a warp: four of each strip, one strip after the other.
using Parts = llvm::SmallVector<mlir::Value>;

/// Rows in the block's memory, each with zeros behind its elements up to `width`.
struct HeldRows {
  mlir::Value base;
  int64_t count;  ///< rows
  int64_t width;  ///< elements of a row that products read
  int64_t stride; ///< from row to row: apart from multiples of the memory's banks
};

/// Numbers of bf16 and f16 are multiplied by tensor cores and summed in f32; those of f32 and f64 by fused
/// multiply-adds. The order of sums depends on sizes alone.
class WarpProducts {
public:
  /// `element`: of the factors in memory.
  WarpProducts(KernelFunction &function, mlir::Type element);

  /// Rows of `width` elements in memory of the block's own.
  HeldRows array(int64_t rows, int64_t width);
  static int64_t arrayBytes(mlir::Type element, int64_t rows, int64_t width);

  /// Strips of a matrix of rows of `width` elements.
  static int64_t strips(mlir::Type element, int64_t width);
  Parts zeros(int64_t strips);

  /// The row of the block's matrix that this thread's elements of a `half` lie in, i64; and its first column
  /// of each strip.
  mlir::Value row(int64_t half) { return emit.add(firstRow, half * (kWarpRows / 2)); }
  mlir::Value column() { return firstColumn; }

  /// own other^T, of the kWarpRows of `own` that belong to this warp: a column for each row of `other`.
  Parts scores(const HeldRows &own, const HeldRows &other);
  /// sums + weights other. Weights are rounded to bf16 or f16 where the factors are numbers of that type.
  Parts accumulate(mlir::ValueRange sums, mlir::ValueRange weights, const HeldRows &other);

private:
  bool usesTensorCores() const { return element != sumElement; }
  /// Numbers that one access takes from memory.
  int64_t lanes() const;

  Parts scoresOfTensorCores(const HeldRows &own, const HeldRows &other);
  Parts accumulateOnTensorCores(mlir::ValueRange sums, mlir::ValueRange weights, const HeldRows &other);
  /// Four squares of 8 x 8 numbers, whose rows lie at an address of each thread: eight threads a square.
  llvm::SmallVector<mlir::Value> squares(const HeldRows &rows, mlir::Value row, mlir::Value column,
                                         bool transposed);
  /// Two numbers of bf16 or f16 in one register.
  mlir::Value packed(mlir::Value first, mlir::Value second);
  void multiply(llvm::ArrayRef<mlir::Value> left, llvm::ArrayRef<mlir::Value> right,
                llvm::MutableArrayRef<mlir::Value> sums);

  Parts scoresOfThreads(const HeldRows &own, const HeldRows &other);
  Parts accumulateOnThreads(mlir::ValueRange sums, mlir::ValueRange weights, const HeldRows &other);

  Emitter &emit;
  KernelFunction &function;
  mlir::Type element, sumElement;
  mlir::Value lane, warpRow, firstRow, firstColumn;
};

} // namespace trainc::codegen::cuda
