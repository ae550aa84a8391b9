// Matrix products of one warp, with sums in registers.
//
// A warp's matrix has kWarpRows rows, and columns in strips of kStripColumns. Its 32 threads form eight
// groups of four adjacent threads. Of each strip, a thread has two adjacent columns of the row of its group,
// and of the row eight below: four elements, of which element 2 * half + side is in row `half` and column
// `side`. This is the layout of tensor cores' sums (PTX ISA 8.0, mma.m16n8k16); products without tensor cores
// use the same layout.
#pragma once

#include "lib/Codegen/Kernels/KernelFunction.h"

namespace trainc::codegen::cuda {

inline constexpr int64_t kWarpRows = 16, kStripColumns = 8;

/// A thread's elements of a warp's matrix: four per strip, strip by strip.
using Parts = llvm::SmallVector<mlir::Value>;

/// Rows in the block's memory, padded with zeros up to `width`.
struct HeldRows {
  mlir::Value base;
  int64_t count;  ///< number of rows
  int64_t width;  ///< elements of a row that products read
  int64_t stride; ///< elements between rows, chosen to avoid bank conflicts
};

/// bf16 and f16 numbers are multiplied by tensor cores and summed in f32; f32 and f64 numbers use fused
/// multiply-adds. The order of sums depends on sizes only.
class WarpProducts {
public:
  /// `element` is that of the factors in memory.
  WarpProducts(KernelFunction &function, mlir::Type element);

  /// Allocates rows of `width` elements in the block's own memory.
  HeldRows array(int64_t rows, int64_t width);
  static int64_t arrayBytes(mlir::Type element, int64_t rows, int64_t width);

  /// Returns the number of strips of a matrix with rows of `width` elements.
  static int64_t strips(mlir::Type element, int64_t width);
  Parts zeros(int64_t strips);

  /// Return the row (i64) of the block's matrix that this thread's elements of a `half` are in, and its first
  /// column in each strip.
  mlir::Value row(int64_t half) { return emit.add(firstRow, half * (kWarpRows / 2)); }
  mlir::Value column() { return firstColumn; }

  /// Returns own other^T for the kWarpRows rows of `own` that belong to this warp; there is one column for
  /// each row of `other`.
  Parts scores(const HeldRows &own, const HeldRows &other);
  /// Returns sums + weights other. Weights are rounded to bf16 or f16 if the factors have that type.
  Parts accumulate(mlir::ValueRange sums, mlir::ValueRange weights, const HeldRows &other);

private:
  bool usesTensorCores() const { return element != sumElement; }
  /// Number of elements per memory access.
  int64_t lanes() const;

  Parts scoresOfTensorCores(const HeldRows &own, const HeldRows &other);
  Parts accumulateOnTensorCores(mlir::ValueRange sums, mlir::ValueRange weights, const HeldRows &other);
  /// Loads four squares of 8 x 8 numbers (ldmatrix). Each thread gives the address of a row; eight threads
  /// form a square.
  llvm::SmallVector<mlir::Value> squares(const HeldRows &rows, mlir::Value row, mlir::Value column,
                                         bool transposed);
  /// Packs two bf16 or f16 numbers into one register.
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
