// Kernels that move elements, one for each box: contiguous pieces of rows where there are any, else squares
// of a transposition.
#include "lib/Codegen/Cpu/Generators.h"
#include "lib/Codegen/Cpu/KernelFunction.h"
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

  int64_t rows() const { return ShapedType::getNumElements(rowShape); }
  /// Tiles of a long row, or rows of a tile.
  int64_t pieces() const { return llvm::divideCeil(length, kTileElements); }
  int64_t rowsPerTile() const { return std::clamp<int64_t>(kTileElements / length, 1, rows()); }
  int64_t grid() const {
    return pieces() > 1 ? rows() * pieces() : int64_t(llvm::divideCeil(rows(), rowsPerTile()));
  }
};

/// Squares whose rows are contiguous in the source and whose columns are in the result: one for each tile, of
/// every place along the other dimensions.
struct CopySquares {
  /// Side of a tile's square.
  static constexpr int64_t kSide = 64;

  Dim inner, outer{1, 1, 1};
  SmallVector<int64_t> shape, sourceStrides, resultStrides;
  int64_t sourceOffset, resultOffset;

  int64_t down() const { return llvm::divideCeil(outer.size, kSide); }
  int64_t across() const { return llvm::divideCeil(inner.size, kSide); }
  int64_t grid() const { return ShapedType::getNumElements(shape) * down() * across(); }
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
    const int64_t rows = copy.rows(), pieces = copy.pieces(), rowsPerTile = copy.rowsPerTile();
    if (pieces > 1)
      return function.tiles([&](Value tile) {
        Value begin = emit.mul(emit.remainder(tile, pieces), kTileElements);
        Value end = emit.min(emit.add(begin, kTileElements), emit.i64(copy.length));
        row(emit.divide(tile, pieces), begin, end);
      });
    function.tiles([&](Value tile) {
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

/// Moves squares, each by one tile.
class SquareCopier {
public:
  SquareCopier(KernelFunction &function, CopySquares copy, Value source, Value result, Type element)
      : function(function), emit(function.emit()), copy(std::move(copy)), source(source), result(result),
        element(element) {}

  void run() {
    const int64_t across = copy.across(), squares = copy.down() * across;
    function.tiles([&](Value tile) {
      Value box = emit.divide(tile, squares), square = emit.remainder(tile, squares);
      Value from = offsetOf(emit, box, copy.shape, copy.sourceStrides, copy.sourceOffset),
            to = offsetOf(emit, box, copy.shape, copy.resultStrides, copy.resultOffset);
      Range down8 = range(emit.divide(square, across), copy.outer.size),
            across8 = range(emit.remainder(square, across), copy.inner.size);
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
  /// Side of a square that is transposed in registers.
  static constexpr int64_t kRegisters = 8;

  /// Offsets of a tile's box in source and result.
  struct Squares {
    Value from, to;
  };
  /// Positions along one side; up to `whole` they come in groups of kRegisters.
  struct Range {
    Value begin, whole, end;
  };

  Range range(Value index, int64_t size) {
    Value begin = emit.mul(index, CopySquares::kSide),
          end = emit.min(emit.add(begin, CopySquares::kSide), emit.i64(size));
    Value groups = emit.divide(emit.sub(end, begin), kRegisters);
    return {begin, emit.add(begin, emit.mul(groups, kRegisters)), end};
  }

  Address sourceAt(const Squares &at, Value i, Value j) {
    return {source, element, emit.add(emit.add(at.from, i), emit.mul(j, copy.inner.sourceStride))};
  }
  Address resultAt(const Squares &at, Value i, Value j) {
    return {result, element, emit.add(emit.add(at.to, emit.mul(i, copy.outer.resultStride)), j)};
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
  CopySquares copy;
  Value source, result;
  Type element;
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

static CopySquares squaresOf(const StridedBox &box, ArrayRef<Dim> dims) {
  CopySquares squares;
  squares.inner = dims.back();
  squares.sourceOffset = box.sourceOffset;
  squares.resultOffset = box.resultOffset;
  for (const Dim &dim : dims.drop_back()) {
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

static LaunchSummary summariseBox(StridedCopyOpInterface op, const StridedBox &box) {
  const SmallVector<Dim> dims = dimsOf(box);
  const bool squares = isTransposed(dims);
  LaunchSummary launch{.name = !box.operand ? "fill"
                               : squares    ? "transpose"
                                            : "copy",
                       .grid = squares ? squaresOf(box, dims).grid() : rowsOf(box, dims).grid(),
                       .params = {}};
  if (box.operand)
    launch.params.push_back(operandParam(op, *box.operand));
  launch.params.push_back(resultParam(op, 0));
  return launch;
}

KernelSummary trainc::codegen::summariseCopy(StridedCopyOpInterface op) {
  KernelSummary kernels;
  for (const StridedBox &box : op.getBoxes())
    kernels.launches.push_back(summariseBox(op, box));
  return kernels;
}

static std::string copyBox(StridedCopyOpInterface op, const StridedBox &box, KernelModule &kernels) {
  const SmallVector<Dim> dims = dimsOf(box);
  const LaunchSummary launch = summariseBox(op, box);
  KernelFunction function(kernels, launch);
  Value source = box.operand ? function.operand(*box.operand) : Value();
  Value result = function.result(0);
  Type element = memoryElement(getElementTypeOrSelf(op->getResult(0)));
  if (isTransposed(dims))
    SquareCopier(function, squaresOf(box, dims), source, result, element).run();
  else
    RowCopier(function, rowsOf(box, dims), source, result, element).run();
  return function.finish();
}

Symbols trainc::codegen::generateCopy(StridedCopyOpInterface op, KernelModule &kernels) {
  Symbols symbols;
  for (const StridedBox &box : op.getBoxes())
    symbols.push_back(copyBox(op, box, kernels));
  return symbols;
}
