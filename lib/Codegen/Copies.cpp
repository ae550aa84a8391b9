// Kernels that move elements, one for each box: contiguous pieces of rows where there are any, else squares
// of a transposition.
#include "lib/Codegen/Generators.h"
#include "lib/Codegen/KernelFunction.h"
#include "lib/Support/StoredElement.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

static constexpr int64_t kTileElements = 32768, kVectorBytes = 128;

namespace {

/// A dimension of a box with its strides in source and result; the source's is 0 where there are zeros.
struct Dim {
  int64_t size, sourceStride, resultStride;
};

/// Row r of the source is at sum of digit(r, d) * sourceStrides[d], where the digits of r are those of a
/// number with the bases `rowShape`; rows of the destination likewise. A row is `length` contiguous elements.
struct CopyRows {
  SmallVector<int64_t> rowShape, sourceStrides, destinationStrides;
  int64_t length, sourceOffset, destinationOffset;
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

/// Copies rows, or fills them with zeros where `source` is null.
class RowCopier {
public:
  RowCopier(KernelFunction &function, CopyRows copy, Value source, Value destination, Type element)
      : function(function), emit(function.emit()), copy(std::move(copy)), source(source),
        destination(destination), element(element) {}

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
    Value from;
    if (source)
      from = offsetOf(emit, index, copy.rowShape, copy.sourceStrides, copy.sourceOffset);
    Value to = offsetOf(emit, index, copy.rowShape, copy.destinationStrides, copy.destinationOffset);
    vectors(emit, element, begin, end, copy.length, [&](Value column, int64_t lanes, Mask mask) {
      Value moved = source ? emit.load({source, element, emit.add(from, column)}, lanes, mask)
                           : emit.constant(Emitter::laneType(element, lanes), 0);
      emit.store(moved, {destination, element, emit.add(to, column)}, mask);
    });
  }

  KernelFunction &function;
  Emitter &emit;
  CopyRows copy;
  Value source, destination;
  Type element;
};

/// Moves squares whose rows are contiguous in the source and whose columns are in the result, each by one
/// tile.
class SquareCopier {
public:
  SquareCopier(KernelFunction &function, ArrayRef<Dim> dims, const StridedBox &box, Value source,
               Value result, Type element)
      : function(function), emit(function.emit()), source(source), result(result), element(element),
        inner(dims.back()), sourceOffset(box.sourceOffset), resultOffset(box.resultOffset) {
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
      Value from = offsetOf(emit, box, shape, sourceStrides, sourceOffset),
            to = offsetOf(emit, box, shape, resultStrides, resultOffset);
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
  int64_t sourceOffset, resultOffset;
  SmallVector<int64_t> shape, sourceStrides, resultStrides;
};

} // namespace

/// The dimensions of a box of which there are more than one; neighbours that are contiguous on both sides are
/// one.
static SmallVector<Dim> dimsOf(const StridedBox &box) {
  SmallVector<Dim> dims;
  for (auto [size, source, result] : llvm::zip_equal(box.shape, box.sourceStrides, box.resultStrides)) {
    if (size == 1)
      continue;
    Dim next{size, source, result};
    if (!dims.empty() && dims.back().sourceStride == source * size &&
        dims.back().resultStride == result * size)
      dims.back() = {dims.back().size * size, source, result};
    else
      dims.push_back(next);
  }
  return dims;
}

/// Whether there are squares with contiguous rows in the source and contiguous columns in the result.
static bool isTransposed(ArrayRef<Dim> dims) {
  return !dims.empty() && dims.back().resultStride == 1 && dims.back().sourceStride > 1 &&
         llvm::any_of(dims, [](const Dim &dim) { return dim.sourceStride == 1; });
}

/// Rows are the last dimension where it is contiguous on both sides, else single elements.
static CopyRows rowsOf(const StridedBox &box, ArrayRef<Dim> dims) {
  CopyRows rows;
  rows.length = 1;
  rows.sourceOffset = box.sourceOffset;
  rows.destinationOffset = box.resultOffset;
  if (!dims.empty() && dims.back().resultStride == 1 && dims.back().sourceStride <= 1) {
    rows.length = dims.back().size;
    dims = dims.drop_back();
  }
  for (const Dim &dim : dims) {
    rows.rowShape.push_back(dim.size);
    rows.sourceStrides.push_back(dim.sourceStride);
    rows.destinationStrides.push_back(dim.resultStride);
  }
  return rows;
}

static KernelLaunch copyBox(StridedCopyOpInterface op, const StridedBox &box, ModuleOp kernels) {
  SmallVector<Dim> dims = dimsOf(box);
  bool squares = isTransposed(dims);
  KernelFunction function(kernels, !box.operand ? "fill" : squares ? "transpose" : "copy");
  Value source = box.operand ? function.param(operandParam(op, *box.operand)) : Value();
  Value result = function.param(resultParam(op, 0));
  Type element = storedElement(getElementTypeOrSelf(op->getResult(0)));
  if (squares)
    SquareCopier(function, dims, box, source, result, element).run();
  else
    RowCopier(function, rowsOf(box, dims), source, result, element).run();
  return function.finish();
}

GeneratedKernels trainc::codegen::generateCopy(StridedCopyOpInterface op, ModuleOp kernels) {
  GeneratedKernels generated;
  for (const StridedBox &box : op.getBoxes())
    generated.launches.push_back(copyBox(op, box, kernels));
  return generated;
}
