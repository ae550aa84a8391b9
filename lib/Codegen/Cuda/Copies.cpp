// Kernels that move elements, one for each box: a vector per thread, or squares through a block's memory.
#include "lib/Codegen/Cuda/Generators.h"
#include "lib/Codegen/Cuda/Squares.h"
#include "lib/Codegen/Kernels/CopyBox.h"
#include "lib/Support/StoredElement.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

static constexpr int64_t kCopyThreads = 256;
/// Side of a block's square if elements are short and move as vectors.
static constexpr int64_t kLongSide = 2 * cuda::kSquareSide;

static Type elementOf(StridedCopyOpInterface op) {
  return memoryElement(getElementTypeOrSelf(op->getResult(0)));
}

/// Returns the number of elements that a thread moves at once. It divides all pieces of rows and the sizes of
/// tensors, so that accesses are aligned.
static int64_t lanesOf(StridedCopyOpInterface op, const StridedBox &box, const CopyRows &rows) {
  int64_t common = std::gcd(rows.length, std::gcd(rows.sourceOffset, rows.destinationOffset));
  for (auto [from, to] : llvm::zip_equal(rows.sourceStrides, rows.destinationStrides))
    common = std::gcd(common, std::gcd(from, to));
  common = std::gcd(common, elementCount(op->getResult(0)));
  if (box.operand)
    common = std::gcd(common, elementCount(op->getOperand(*box.operand)));
  return std::gcd(common, kAccessBytes / elementBytes(elementOf(op)));
}

namespace {

/// Access widths for the squares of a block.
struct SquareTuning {
  int64_t sourceLanes, resultLanes; ///< elements that a thread reads and writes at once
  int64_t side;

  int64_t row() const { return cuda::squareRow(side); } ///< of the square in the block's memory
};

} // namespace

/// Vector widths divide the sides of a box and all offsets and strides, so that a vector is aligned, and
/// completely inside or outside the box.
static SquareTuning tuningOf(StridedCopyOpInterface op, const StridedBox &box, const CopySquares &squares) {
  const int64_t element = elementBytes(elementOf(op)), maximum = kAccessBytes / element;
  auto divisor = [&](int64_t side, int64_t stride, int64_t offset, ArrayRef<int64_t> strides, Value tensor) {
    int64_t common = std::gcd(std::gcd(side, stride), std::gcd(offset, elementCount(tensor)));
    for (int64_t each : strides)
      common = std::gcd(common, each);
    return std::gcd(common, maximum);
  };
  const int64_t source = divisor(squares.outer.size, squares.inner.sourceStride, squares.sourceOffset,
                                 squares.sourceStrides, op->getOperand(*box.operand));
  const int64_t result = divisor(squares.inner.size, squares.outer.resultStride, squares.resultOffset,
                                 squares.resultStrides, op->getResult(0));
  return {source, result, element <= 2 && source * result > 1 ? kLongSide : cuda::kSquareSide};
}

static LaunchSummary launchOf(StridedCopyOpInterface op, const StridedBox &box) {
  const SmallVector<CopyDim> dims = dimsOf(box);
  LaunchSummary launch{
      .name = box.operand ? "copy" : "fill", .grid = 0, .params = {}, .threads = kCopyThreads};
  if (isTransposed(dims)) {
    launch.name = "transpose";
    const CopySquares squares = squaresOf(box, dims);
    const SquareTuning tuning = tuningOf(op, box, squares);
    launch.grid = squares.grid(tuning.side);
    launch.sharedBytes = blockArrayBytes(elementOf(op), tuning.side * tuning.row());
  } else {
    const CopyRows rows = rowsOf(box, dims);
    launch.grid = llvm::divideCeil(rows.rows() * (rows.length / lanesOf(op, box, rows)), kCopyThreads);
  }
  return launch;
}

/// Each thread copies a vector of a row, or fills it with zeros.
static void copyRows(KernelFunction &function, const CopyRows &copy, int64_t lanes, Value source,
                     Value destination, Type element) {
  Emitter &emit = function.emit();
  const int64_t steps = copy.length / lanes;
  function.tiles([&](Value tile) {
    Value step = emit.add(emit.mul(tile, kCopyThreads), function.thread());
    emit.when(emit.less(step, emit.i64(copy.rows() * steps)), [&] {
      Value row = emit.divide(step, steps), column = emit.mul(emit.remainder(step, steps), lanes);
      Value moved = emit.constant(Emitter::laneType(element, lanes), 0);
      if (source) {
        Value from = offsetOf(emit, row, copy.rowShape, copy.sourceStrides, copy.sourceOffset);
        moved = emit.load({source, element, emit.add(from, column)}, lanes);
      }
      Value to = offsetOf(emit, row, copy.rowShape, copy.destinationStrides, copy.destinationOffset);
      emit.store(moved, {destination, element, emit.add(to, column)});
    });
  });
}

namespace {

/// Transposes squares through a block's memory. Adjacent threads read along `outer` and write along `inner`.
class SquareEmitter {
public:
  SquareEmitter(KernelFunction &function, const CopySquares &copy, const SquareTuning &tuning, Type element)
      : function(function), emit(function.emit()), copy(copy), tuning(tuning), element(element),
        square(function.blockArray(element, tuning.side * tuning.row())) {}

  void run(Value source, Value result) {
    const int64_t across = copy.across(tuning.side), squares = copy.down(tuning.side) * across;
    function.tiles([&](Value tile) {
      Value box = emit.divide(tile, squares), index = emit.remainder(tile, squares);
      outer = emit.mul(emit.divide(index, across), tuning.side);
      inner = emit.mul(emit.remainder(index, across), tuning.side);
      read({source, element, offsetOf(emit, box, copy.shape, copy.sourceStrides, copy.sourceOffset)});
      function.barrier();
      write({result, element, offsetOf(emit, box, copy.shape, copy.resultStrides, copy.resultOffset)});
    });
  }

private:
  void read(const Address &box) {
    eachVector(tuning.sourceLanes, [&](Value down, Value along) {
      Value i = emit.add(outer, down), j = emit.add(inner, along);
      emit.when(isInside(i, j), [&] {
        Value at = emit.add(emit.add(box.index, i), emit.mul(j, copy.inner.sourceStride));
        Value moved = emit.load({box.base, element, at}, tuning.sourceLanes);
        for (int64_t lane = 0; lane < tuning.sourceLanes; ++lane)
          emit.store(vector::ExtractOp::create(emit.builder, emit.loc, moved, lane),
                     inSquare(emit.add(down, lane), along));
      });
    });
  }

  void write(const Address &box) {
    eachVector(tuning.resultLanes, [&](Value along, Value down) {
      Value i = emit.add(outer, down), j = emit.add(inner, along);
      emit.when(isInside(i, j), [&] {
        SmallVector<Value> moved;
        for (int64_t lane = 0; lane < tuning.resultLanes; ++lane)
          moved.push_back(emit.load(inSquare(down, emit.add(along, lane))));
        Value at = emit.add(emit.add(box.index, emit.mul(i, copy.outer.resultStride)), j);
        emit.store(vector::FromElementsOp::create(emit.builder, emit.loc,
                                                  Emitter::laneType(element, tuning.resultLanes), moved),
                   {box.base, element, at});
      });
    });
  }

  /// Calls body(begin, row) for each of this thread's vectors in the square.
  void eachVector(int64_t lanes, llvm::function_ref<void(Value, Value)> body) {
    const int64_t vectors = tuning.side / lanes;
    Value place = emit.mul(emit.remainder(function.thread(), vectors), lanes),
          row = emit.divide(function.thread(), vectors);
    for (int64_t rows = 0; rows < tuning.side; rows += kCopyThreads / vectors)
      body(place, emit.add(row, rows));
  }

  Address inSquare(Value down, Value along) {
    return {square, element, emit.add(emit.mul(along, tuning.row()), down)};
  }

  Value isInside(Value i, Value j) {
    return arith::AndIOp::create(emit.builder, emit.loc, emit.less(i, emit.i64(copy.outer.size)),
                                 emit.less(j, emit.i64(copy.inner.size)));
  }

  KernelFunction &function;
  Emitter &emit;
  const CopySquares &copy;
  const SquareTuning &tuning;
  Type element;
  Value square, outer, inner;
};

} // namespace

static void copyBox(KernelFunction &function, StridedCopyOpInterface op, const StridedBox &box,
                    Value source) {
  const SmallVector<CopyDim> dims = dimsOf(box);
  if (isTransposed(dims)) {
    const CopySquares squares = squaresOf(box, dims);
    SquareEmitter(function, squares, tuningOf(op, box, squares), elementOf(op))
        .run(source, function.result(0));
  } else {
    const CopyRows rows = rowsOf(box, dims);
    copyRows(function, rows, lanesOf(op, box, rows), source, function.result(0), elementOf(op));
  }
}

static constexpr BoxCopy kBoxCopy{.launch = launchOf, .body = copyBox};

KernelSummary trainc::codegen::cuda::summariseCopy(StridedCopyOpInterface op) {
  return summariseBoxes(op, kBoxCopy);
}

Symbols trainc::codegen::cuda::generateCopy(StridedCopyOpInterface op, KernelModule &kernels) {
  return generateBoxes(op, kBoxCopy, kernels);
}
