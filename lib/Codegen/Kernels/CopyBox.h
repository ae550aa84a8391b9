// A box of elements that move together, as loops see it: contiguous pieces of rows where there are any, else
// squares of a transposition.
#pragma once

#include "dialects/Interfaces/Interfaces.h"
#include "lib/Codegen/Kernels/Emitter.h"

#include "llvm/Support/MathExtras.h"

namespace trainc::codegen {

/// A dimension of a box with its strides in source and result; the source's is 0 where there are zeros.
struct CopyDim {
  int64_t size, sourceStride, resultStride;
};

/// Bytes that are read and written for a box, or written where there are zeros.
int64_t movedBytes(StridedCopyOpInterface op, const StridedBox &box);

/// The dimensions of a box of which there are more than one; neighbours that are contiguous on both sides are
/// one.
llvm::SmallVector<CopyDim> dimsOf(const StridedBox &box);

/// Whether there are squares with contiguous rows in the source and contiguous columns in the result.
bool isTransposed(llvm::ArrayRef<CopyDim> dims);

/// Row r of the source is at sum of digit(r, d) * sourceStrides[d], where the digits of r are those of a
/// number with the bases `rowShape`; rows of the destination likewise. A row is `length` contiguous elements.
struct CopyRows {
  llvm::SmallVector<int64_t> rowShape, sourceStrides, destinationStrides;
  int64_t length, sourceOffset, destinationOffset;

  int64_t rows() const { return mlir::ShapedType::getNumElements(rowShape); }
};

/// Rows are the last dimension where it is contiguous on both sides, else single elements.
CopyRows rowsOf(const StridedBox &box, llvm::ArrayRef<CopyDim> dims);

/// Squares whose rows are contiguous in the source and whose columns are in the result, of every place along
/// the other dimensions.
struct CopySquares {
  CopyDim inner, outer{1, 1, 1};
  llvm::SmallVector<int64_t> shape, sourceStrides, resultStrides;
  int64_t sourceOffset, resultOffset;

  /// Squares of this side, along each dimension and in all.
  int64_t down(int64_t side) const { return llvm::divideCeil(outer.size, side); }
  int64_t across(int64_t side) const { return llvm::divideCeil(inner.size, side); }
  int64_t grid(int64_t side) const {
    return mlir::ShapedType::getNumElements(shape) * down(side) * across(side);
  }
};

/// Of a box that isTransposed().
CopySquares squaresOf(const StridedBox &box, llvm::ArrayRef<CopyDim> dims);

/// Digit-wise offset of row `row`.
mlir::Value offsetOf(Emitter &emit, mlir::Value row, llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<int64_t> strides, int64_t offset);

} // namespace trainc::codegen
