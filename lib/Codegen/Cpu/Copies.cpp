// Kernels that move elements, one for each box: contiguous pieces of rows if there are any, otherwise squares
// of a transposition.
#include "lib/Codegen/Cpu/Generators.h"
#include "lib/Codegen/Kernels/CopyBox.h"
#include "lib/Support/StoredElement.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

static constexpr int64_t kTileElements = 32768, kVectorBytes = 128;
/// Side of the square that a tile transposes.
static constexpr int64_t kSide = 64;

namespace {

/// Pieces of a long row, or rows of a tile.
int64_t pieces(const CopyRows &rows) { return llvm::divideCeil(rows.length, kTileElements); }
int64_t rowsPerTileOf(const CopyRows &rows) {
  return std::clamp<int64_t>(kTileElements / rows.length, 1, rows.rows());
}
int64_t gridOf(const CopyRows &rows) {
  return pieces(rows) > 1 ? rows.rows() * pieces(rows)
                          : int64_t(llvm::divideCeil(rows.rows(), rowsPerTileOf(rows)));
}

/// Calls body(column, lanes, mask) for vectors over [begin, end).
void vectors(Emitter &emit, Type element, Value begin, Value end, int64_t length,
             llvm::function_ref<void(Value, int64_t, Mask)> body) {
  int64_t lanes = std::min<int64_t>(kVectorBytes / elementBytes(element), llvm::bit_ceil<uint64_t>(length));
  Value count = emit.sub(end, begin);
  Value whole = emit.add(begin, emit.mul(emit.divide(count, lanes), lanes));
  emit.loop(begin, whole, lanes, [&](Value column) { body(column, lanes, Mask()); });
  if (length % lanes != 0)
    body(whole, lanes, emit.lanesBelow(emit.sub(end, whole), lanes));
}

/// Copies rows, or fills them with zeros if `source` is null.
class RowCopier {
public:
  RowCopier(KernelFunction &function, CopyRows copy, Value source, Value destination, Type element)
      : function(function), emit(function.emit()), copy(std::move(copy)), source(source),
        destination(destination), element(element) {}

  void run() {
    const int64_t rows = copy.rows(), pieces = ::pieces(copy), rowsPerTile = rowsPerTileOf(copy);
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

/// Transposes squares, one per tile.
class SquareCopier {
public:
  SquareCopier(KernelFunction &function, CopySquares copy, Value source, Value result, Type element)
      : function(function), emit(function.emit()), copy(std::move(copy)), source(source), result(result),
        element(element) {}

  void run() {
    const int64_t across = copy.across(kSide), squares = copy.down(kSide) * across;
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
  /// Positions along one side; up to `whole` they form groups of kRegisters.
  struct Range {
    Value begin, whole, end;
  };

  Range range(Value index, int64_t size) {
    Value begin = emit.mul(index, kSide), end = emit.min(emit.add(begin, kSide), emit.i64(size));
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

static LaunchSummary launchOf(StridedCopyOpInterface, const StridedBox &box) {
  const SmallVector<CopyDim> dims = dimsOf(box);
  const bool squares = isTransposed(dims);
  return {.name = !box.operand ? "fill"
                  : squares    ? "transpose"
                               : "copy",
          .grid = squares ? squaresOf(box, dims).grid(kSide) : gridOf(rowsOf(box, dims)),
          .params = {}};
}

static void copyBox(KernelFunction &function, StridedCopyOpInterface op, const StridedBox &box,
                    Value source) {
  const SmallVector<CopyDim> dims = dimsOf(box);
  Value result = function.result(0);
  Type element = memoryElement(getElementTypeOrSelf(op->getResult(0)));
  if (isTransposed(dims))
    SquareCopier(function, squaresOf(box, dims), source, result, element).run();
  else
    RowCopier(function, rowsOf(box, dims), source, result, element).run();
}

static constexpr BoxCopy kBoxCopy{.launch = launchOf, .body = copyBox};

KernelSummary trainc::codegen::summariseCopy(StridedCopyOpInterface op) {
  return summariseBoxes(op, kBoxCopy);
}

Symbols trainc::codegen::generateCopy(StridedCopyOpInterface op, KernelModule &kernels) {
  return generateBoxes(op, kBoxCopy, kernels);
}
