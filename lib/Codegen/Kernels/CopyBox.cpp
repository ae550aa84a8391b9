#include "lib/Codegen/Kernels/CopyBox.h"

#include "lib/Support/StoredElement.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

/// Returns the bytes that a box reads and writes; zeros are only written.
static int64_t movedBytes(StridedCopyOpInterface op, const StridedBox &box) {
  return (box.operand ? 2 : 1) * ShapedType::getNumElements(box.shape) *
         elementBytes(storedElement(getElementTypeOrSelf(op->getResult(0))));
}

static LaunchSummary summariseBox(StridedCopyOpInterface op, const StridedBox &box, const BoxCopy &copy) {
  LaunchSummary launch = copy.launch(op, box);
  launch.movedBytes = movedBytes(op, box);
  if (box.operand)
    launch.params.push_back(operandParam(op, *box.operand));
  launch.params.push_back(resultParam(op, 0));
  return launch;
}

KernelSummary trainc::codegen::summariseBoxes(StridedCopyOpInterface op, const BoxCopy &copy) {
  KernelSummary kernels;
  for (const StridedBox &box : op.getBoxes())
    kernels.launches.push_back(summariseBox(op, box, copy));
  return kernels;
}

Symbols trainc::codegen::generateBoxes(StridedCopyOpInterface op, const BoxCopy &copy,
                                       KernelModule &kernels) {
  Symbols symbols;
  for (const StridedBox &box : op.getBoxes()) {
    const LaunchSummary launch = summariseBox(op, box, copy);
    KernelFunction function(kernels, launch);
    copy.body(function, op, box, box.operand ? function.operand(*box.operand) : Value());
    symbols.push_back(function.finish());
  }
  return symbols;
}

SmallVector<CopyDim> trainc::codegen::dimsOf(const StridedBox &box) {
  SmallVector<CopyDim> dims;
  for (auto [size, source, result] : llvm::zip_equal(box.shape, box.sourceStrides, box.resultStrides)) {
    if (size == 1)
      continue;
    CopyDim next{size, source, result};
    if (!dims.empty() && dims.back().sourceStride == source * size &&
        dims.back().resultStride == result * size)
      dims.back() = {dims.back().size * size, source, result};
    else
      dims.push_back(next);
  }
  return dims;
}

bool trainc::codegen::isTransposed(ArrayRef<CopyDim> dims) {
  return !dims.empty() && dims.back().resultStride == 1 && dims.back().sourceStride > 1 &&
         llvm::any_of(dims, [](const CopyDim &dim) { return dim.sourceStride == 1; });
}

CopyRows trainc::codegen::rowsOf(const StridedBox &box, ArrayRef<CopyDim> dims) {
  CopyRows rows;
  rows.length = 1;
  rows.sourceOffset = box.sourceOffset;
  rows.destinationOffset = box.resultOffset;
  if (!dims.empty() && dims.back().resultStride == 1 && dims.back().sourceStride <= 1) {
    rows.length = dims.back().size;
    dims = dims.drop_back();
  }
  for (const CopyDim &dim : dims) {
    rows.rowShape.push_back(dim.size);
    rows.sourceStrides.push_back(dim.sourceStride);
    rows.destinationStrides.push_back(dim.resultStride);
  }
  return rows;
}

CopySquares trainc::codegen::squaresOf(const StridedBox &box, ArrayRef<CopyDim> dims) {
  CopySquares squares;
  squares.inner = dims.back();
  squares.sourceOffset = box.sourceOffset;
  squares.resultOffset = box.resultOffset;
  for (const CopyDim &dim : dims.drop_back()) {
    if (dim.sourceStride == 1) {
      squares.outer = dim;
      continue;
    }
    squares.shape.push_back(dim.size);
    squares.sourceStrides.push_back(dim.sourceStride);
    squares.resultStrides.push_back(dim.resultStride);
  }
  return squares;
}

Value trainc::codegen::offsetOf(Emitter &emit, Value row, ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                                int64_t offset) {
  Value sum = emit.i64(offset);
  int64_t below = ShapedType::getNumElements(shape);
  for (auto [size, stride] : llvm::zip_equal(shape, strides)) {
    bool leading = below == ShapedType::getNumElements(shape);
    below /= size;
    if (size == 1)
      continue;
    Value digit = emit.divide(row, below);
    if (!leading)
      digit = emit.remainder(digit, size);
    sum = emit.add(sum, emit.mul(digit, stride));
  }
  return sum;
}
