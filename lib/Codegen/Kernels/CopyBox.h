// Kernels that copy boxes of elements, and their loop structure: contiguous rows if there are any, otherwise
// squares of a transposition.
#pragma once

#include "dialects/Interfaces/Interfaces.h"
#include "lib/Codegen/Kernels/KernelFunction.h"

#include "llvm/Support/MathExtras.h"

namespace trainc::codegen {

/// A dimension of a box with its strides in source and result. The source stride of zeros is 0.
struct CopyDim {
  int64_t size, sourceStride, resultStride;
};

/// How a target copies a box. `source` is null for zeros.
struct BoxCopy {
  /// Returns the launch without arguments and moved bytes.
  LaunchSummary (*launch)(StridedCopyOpInterface op, const StridedBox &box);
  /// Builds the body of the launch's kernel.
  void (*body)(KernelFunction &function, StridedCopyOpInterface op, const StridedBox &box,
               mlir::Value source);
};

/// Returns the launches of a copy, one for each box.
KernelSummary summariseBoxes(StridedCopyOpInterface op, const BoxCopy &copy);
/// Generates the kernels of these launches.
Symbols generateBoxes(StridedCopyOpInterface op, const BoxCopy &copy, KernelModule &kernels);

/// Returns the dimensions of a box that are above 1. Adjacent dimensions that are contiguous on both sides
/// are merged.
llvm::SmallVector<CopyDim> dimsOf(const StridedBox &box);

/// Whether there are squares with contiguous rows in the source and contiguous columns in the result.
bool isTransposed(llvm::ArrayRef<CopyDim> dims);

/// A box as rows of `length` contiguous elements. Row r of the source begins at sum of digit(r, d) *
/// sourceStrides[d], where the digits of r have the bases `rowShape`; rows of the destination likewise.
struct CopyRows {
  llvm::SmallVector<int64_t> rowShape, sourceStrides, destinationStrides;
  int64_t length, sourceOffset, destinationOffset;

  int64_t rows() const { return mlir::ShapedType::getNumElements(rowShape); }
};

/// Returns the box as rows: the last dimension if it is contiguous on both sides, otherwise single elements.
CopyRows rowsOf(const StridedBox &box, llvm::ArrayRef<CopyDim> dims);

/// A box as squares whose rows are contiguous in the source and whose columns are contiguous in the result,
/// for every index of the other dimensions.
struct CopySquares {
  CopyDim inner, outer{1, 1, 1};
  llvm::SmallVector<int64_t> shape, sourceStrides, resultStrides;
  int64_t sourceOffset, resultOffset;

  /// Number of squares with this side along each dimension, and in total.
  int64_t down(int64_t side) const { return llvm::divideCeil(outer.size, side); }
  int64_t across(int64_t side) const { return llvm::divideCeil(inner.size, side); }
  int64_t grid(int64_t side) const {
    return mlir::ShapedType::getNumElements(shape) * down(side) * across(side);
  }
};

/// Returns the squares of a box that isTransposed().
CopySquares squaresOf(const StridedBox &box, llvm::ArrayRef<CopyDim> dims);

/// Returns the offset of row `row`, computed from its digits.
mlir::Value offsetOf(Emitter &emit, mlir::Value row, llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<int64_t> strides, int64_t offset);

} // namespace trainc::codegen
