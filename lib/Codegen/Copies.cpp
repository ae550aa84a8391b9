// Kernels that move elements: contiguous pieces of rows where there are any, else blocks of a transposition.
#include "lib/Codegen/Generators.h"
#include "lib/Codegen/KernelFunction.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

static constexpr int64_t kTileElements = 32768, kVectorBytes = 128;

namespace {

/// Row r of the source is at sum of digit(r, d) * sourceStrides[d], where the digits of r are those of a
/// number with the bases `rowShape`; rows of the destination likewise. A row is `length` contiguous elements.
struct CopyRows {
  SmallVector<int64_t> rowShape, sourceStrides, destinationStrides;
  int64_t length, sourceOffset = 0, destinationOffset = 0;
  /// Zeros to write before and after each row.
  int64_t low = 0, high = 0;
};

/// Digit-wise offset of row `row`.
Value offsetOf(Emitter &emit, Value row, ArrayRef<int64_t> shape, ArrayRef<int64_t> strides, int64_t offset) {
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

/// body(column, lanes, mask) for vectors over [begin, end).
void vectors(Emitter &emit, Type element, Value begin, Value end, int64_t length,
             llvm::function_ref<void(Value, int64_t, Mask)> body) {
  int64_t lanes = std::min<int64_t>(kVectorBytes / elementBytes(element), llvm::bit_ceil<uint64_t>(length));
  Value count = emit.sub(end, begin);
  Value whole = emit.add(begin, emit.mul(emit.divide(count, lanes), lanes));
  emit.loop(begin, whole, lanes, [&](Value column) { body(column, lanes, Mask()); });
  if (length % lanes != 0)
    body(whole, lanes, emit.lanesBelow(emit.sub(end, whole), lanes));
}

class RowCopier {
public:
  RowCopier(KernelFunction &function, const CopyRows &copy, Value source, Value destination, Type element)
      : function(function), emit(function.emit()), copy(copy), source(source), destination(destination),
        element(element) {}

  void run() {
    const int64_t rows = ShapedType::getNumElements(copy.rowShape);
    const int64_t pieces = llvm::divideCeil(copy.length, kTileElements);
    const int64_t rowsPerTile = std::clamp<int64_t>(kTileElements / copy.length, 1, rows);
    if (pieces > 1)
      return function.tiles(rows * pieces, [&](Value tile) {
        Value begin = emit.mul(emit.remainder(tile, pieces), kTileElements);
        Value end = emit.min(emit.add(begin, kTileElements), emit.i64(copy.length));
        row(emit.divide(tile, pieces), begin, end);
      });
    function.tiles(llvm::divideCeil(rows, rowsPerTile), [&](Value tile) {
      Value first = emit.mul(tile, rowsPerTile);
      Value end = emit.min(emit.add(first, rowsPerTile), emit.i64(rows));
      emit.loop(first, end, 1, [&](Value index) { row(index, emit.i64(0), emit.i64(copy.length)); });
    });
  }

private:
  void row(Value index, Value begin, Value end) {
    Value from = offsetOf(emit, index, copy.rowShape, copy.sourceStrides, copy.sourceOffset);
    Value to = offsetOf(emit, index, copy.rowShape, copy.destinationStrides, copy.destinationOffset);
    vectors(emit, element, begin, end, copy.length, [&](Value column, int64_t lanes, Mask mask) {
      Value loaded = emit.load({source, element, emit.add(from, column)}, lanes, mask);
      emit.store(loaded, {destination, element, emit.add(to, column)}, mask);
    });
    if (copy.low > 0)
      zeros(emit.sub(to, emit.i64(copy.low)), copy.low);
    if (copy.high > 0)
      zeros(emit.add(to, copy.length), copy.high);
  }

  /// Every piece of a row writes the same zeros.
  void zeros(Value first, int64_t count) {
    vectors(emit, element, emit.i64(0), emit.i64(count), count, [&](Value column, int64_t lanes, Mask mask) {
      Value zero = emit.constant(Emitter::laneType(element, lanes), 0);
      emit.store(zero, {destination, element, emit.add(first, column)}, mask);
    });
  }

  KernelFunction &function;
  Emitter &emit;
  const CopyRows &copy;
  Value source, destination;
  Type element;
};

} // namespace

static KernelLaunch copyRows(Operation *op, unsigned operand, const CopyRows &copy, ModuleOp kernels) {
  KernelFunction function(kernels, "copy");
  Value source = function.param(operandParam(op, operand)), destination = function.param(resultParam(op, 0));
  Type element = Emitter::memoryType(getElementTypeOrSelf(op->getResult(0)));
  RowCopier(function, copy, source, destination, element).run();
  return function.finish();
}

//===-- Slice, pad, concat --------------------------------------------------------------------===//

namespace {
/// A tensor seen as outer x size x inner around a dimension.
struct Around {
  int64_t outer = 1, size, inner = 1;
  Around(Value tensor, int64_t dim) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
    dim = dim < 0 ? dim + shape.size() : dim;
    outer = ShapedType::getNumElements(shape.take_front(dim));
    size = shape[dim];
    inner = ShapedType::getNumElements(shape.drop_front(dim + 1));
  }
};
} // namespace

static KernelLaunch copySlice(nn::SliceOp op, ModuleOp kernels) {
  Around from(op.getX(), op.getDim()), to(op.getResult(), op.getDim());
  int64_t length = to.size * to.inner;
  CopyRows copy{
      {from.outer}, {from.size * from.inner}, {length}, length, int64_t(op.getOffset()) * from.inner};
  return copyRows(op, 0, copy, kernels);
}

static KernelLaunch copyPad(nn::PadOp op, ModuleOp kernels) {
  Around from(op.getX(), op.getDim()), to(op.getResult(), op.getDim());
  int64_t length = from.size * from.inner, low = op.getLow() * from.inner, high = op.getHigh() * from.inner;
  CopyRows copy{{from.outer}, {length}, {to.size * to.inner}, length, 0, low, low, high};
  return copyRows(op, 0, copy, kernels);
}

static SmallVector<KernelLaunch> copyConcat(nn::ConcatOp op, ModuleOp kernels) {
  SmallVector<KernelLaunch> launches;
  Around to(op.getResult(), op.getDim());
  int64_t offset = 0;
  for (auto [index, input] : llvm::enumerate(op.getInputs())) {
    Around from(input, op.getDim());
    int64_t length = from.size * from.inner;
    CopyRows copy{{from.outer}, {length}, {to.size * to.inner}, length, 0, offset};
    launches.push_back(copyRows(op, index, copy, kernels));
    offset += length;
  }
  return launches;
}

//===-- Transpose -----------------------------------------------------------------------------===//

namespace {

/// Dimensions of a transposition's result with their strides in source and result; neighbours that stay
/// together are one.
struct Dim {
  int64_t size, sourceStride, resultStride;
};

SmallVector<Dim> transposedDims(nn::TransposeOp op) {
  ArrayRef<int64_t> from = cast<RankedTensorType>(op.getX().getType()).getShape();
  SmallVector<int64_t> sourceStrides(from.size(), 1);
  for (size_t i = from.size(); i-- > 1;)
    sourceStrides[i - 1] = sourceStrides[i] * from[i];
  SmallVector<Dim> dims;
  for (int64_t dim : op.getPermutation()) {
    if (from[dim] == 1)
      continue;
    Dim next{from[dim], sourceStrides[dim], 1};
    if (!dims.empty() && dims.back().sourceStride == next.sourceStride * next.size)
      dims.back() = {dims.back().size * next.size, next.sourceStride, 1};
    else
      dims.push_back(next);
  }
  int64_t stride = 1;
  for (Dim &dim : llvm::reverse(dims)) {
    dim.resultStride = stride;
    stride *= dim.size;
  }
  return dims;
}

/// Moves squares whose rows are contiguous in the source and whose columns are in the result, each by one
/// tile.
class SquareCopier {
public:
  SquareCopier(KernelFunction &function, ArrayRef<Dim> dims, Value source, Value result, Type element)
      : function(function), emit(function.emit()), source(source), result(result), element(element),
        inner(dims.back()) {
    for (const Dim &dim : dims.drop_back()) {
      if (dim.sourceStride == 1) {
        outer = dim;
        continue;
      }
      shape.push_back(dim.size);
      sourceStrides.push_back(dim.sourceStride);
      resultStrides.push_back(dim.resultStride);
    }
  }

  void run() {
    int64_t down = llvm::divideCeil(outer.size, kSide), across = llvm::divideCeil(inner.size, kSide);
    function.tiles(ShapedType::getNumElements(shape) * down * across, [&](Value tile) {
      Value box = emit.divide(tile, down * across), square = emit.remainder(tile, down * across);
      Value from = offsetOf(emit, box, shape, sourceStrides, 0),
            to = offsetOf(emit, box, shape, resultStrides, 0);
      Range down8 = range(emit.divide(square, across), outer.size),
            across8 = range(emit.remainder(square, across), inner.size);
      Squares at{from, to};
      emit.loop(down8.begin, down8.whole, kRegisters, [&](Value i) {
        emit.loop(across8.begin, across8.whole, kRegisters, [&](Value j) { registers(at, i, j); });
        emit.loop(i, emit.add(i, kRegisters), 1,
                  [&](Value k) { elements(at, k, across8.whole, across8.end); });
      });
      emit.loop(down8.whole, down8.end, 1, [&](Value i) { elements(at, i, across8.begin, across8.end); });
    });
  }

private:
  /// Side of the square of a tile, and of one that is transposed in registers.
  static constexpr int64_t kSide = 64, kRegisters = 8;

  /// Offsets of a tile's box in source and result.
  struct Squares {
    Value from, to;
  };
  /// Positions along one side; up to `whole` they come in groups of kRegisters.
  struct Range {
    Value begin, whole, end;
  };

  Range range(Value index, int64_t size) {
    Value begin = emit.mul(index, kSide), end = emit.min(emit.add(begin, kSide), emit.i64(size));
    Value groups = emit.divide(emit.sub(end, begin), kRegisters);
    return {begin, emit.add(begin, emit.mul(groups, kRegisters)), end};
  }

  Address sourceAt(const Squares &at, Value i, Value j) {
    return {source, element, emit.add(emit.add(at.from, i), emit.mul(j, inner.sourceStride))};
  }
  Address resultAt(const Squares &at, Value i, Value j) {
    return {result, element, emit.add(emit.add(at.to, emit.mul(i, outer.resultStride)), j)};
  }

  void registers(const Squares &at, Value i, Value j) {
    SmallVector<Value> rows;
    for (int64_t k = 0; k < kRegisters; ++k)
      rows.push_back(emit.load(sourceAt(at, i, emit.add(j, k)), kRegisters));
    for (auto [k, row] : llvm::enumerate(emit.transposed(rows)))
      emit.store(row, resultAt(at, emit.add(i, int64_t(k)), j));
  }

  void elements(const Squares &at, Value i, Value begin, Value end) {
    emit.loop(begin, end, 1, [&](Value j) { emit.store(emit.load(sourceAt(at, i, j)), resultAt(at, i, j)); });
  }

  KernelFunction &function;
  Emitter &emit;
  Value source, result;
  Type element;
  Dim inner, outer{1, 1, 1};
  SmallVector<int64_t> shape, sourceStrides, resultStrides;
};

} // namespace

static KernelLaunch copyTranspose(nn::TransposeOp op, ModuleOp kernels) {
  SmallVector<Dim> dims = transposedDims(op);
  if (dims.empty() || dims.back().sourceStride == 1) {
    CopyRows copy;
    copy.length = dims.empty() ? 1 : dims.back().size;
    for (const Dim &dim : ArrayRef(dims).drop_back(!dims.empty())) {
      copy.rowShape.push_back(dim.size);
      copy.sourceStrides.push_back(dim.sourceStride);
      copy.destinationStrides.push_back(dim.resultStride);
    }
    return copyRows(op, 0, copy, kernels);
  }
  KernelFunction function(kernels, "transpose");
  Value source = function.param(operandParam(op, 0)), result = function.param(resultParam(op, 0));
  Type element = Emitter::memoryType(getElementTypeOrSelf(op.getResult()));
  SquareCopier(function, dims, source, result, element).run();
  return function.finish();
}

FailureOr<GeneratedKernels> trainc::codegen::generateCopy(Operation *op, ModuleOp kernels) {
  GeneratedKernels generated;
  if (auto concat = dyn_cast<nn::ConcatOp>(op)) {
    generated.launches = copyConcat(concat, kernels);
    return generated;
  }
  bool known =
      llvm::TypeSwitch<Operation *, bool>(op)
          .Case([&](nn::SliceOp slice) {
            return generated.launches.push_back(copySlice(slice, kernels)), true;
          })
          .Case([&](nn::PadOp pad) { return generated.launches.push_back(copyPad(pad, kernels)), true; })
          .Case([&](nn::TransposeOp transpose) {
            return generated.launches.push_back(copyTranspose(transpose, kernels)), true;
          })
          .Default(false);
  if (!known)
    return op->emitOpError("moves elements in a way that no copy kernel knows");
  return generated;
}
