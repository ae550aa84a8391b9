// Kernels that move elements, one for each box: a vector for each thread, or squares through a block's
// memory.
#include "lib/Codegen/Cuda/Generators.h"
#include "lib/Codegen/Kernels/CopyBox.h"
#include "lib/Codegen/Kernels/KernelFunction.h"
#include "lib/Support/StoredElement.h"

#include <numeric>

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

static constexpr int64_t kThreads = 256;
/// Of the square of a block, of which a thread moves kSide * kSide / kThreads elements. Its rows are an
/// element apart from multiples of the memory's banks.
static constexpr int64_t kSide = 32, kRow = kSide + 1;

static Type elementOf(StridedCopyOpInterface op) {
  return memoryElement(getElementTypeOrSelf(op->getResult(0)));
}

/// Elements that a thread moves at once: all pieces of rows, and whole tensors, are multiples of them, so
/// that they lie on borders of their size.
static int64_t lanesOf(StridedCopyOpInterface op, const StridedBox &box, const CopyRows &rows) {
  int64_t common = std::gcd(rows.length, std::gcd(rows.sourceOffset, rows.destinationOffset));
  for (auto [from, to] : llvm::zip_equal(rows.sourceStrides, rows.destinationStrides))
    common = std::gcd(common, std::gcd(from, to));
  common = std::gcd(common, elementCount(op->getResult(0)));
  if (box.operand)
    common = std::gcd(common, elementCount(op->getOperand(*box.operand)));
  return std::gcd(common, kAccessBytes / elementBytes(elementOf(op)));
}

static LaunchSummary summariseBox(StridedCopyOpInterface op, const StridedBox &box) {
  const SmallVector<CopyDim> dims = dimsOf(box);
  LaunchSummary launch{.name = box.operand ? "copy" : "fill", .grid = 0, .params = {}, .threads = kThreads};
  if (isTransposed(dims)) {
    launch.name = "transpose";
    launch.grid = squaresOf(box, dims).grid(kSide);
    launch.sharedBytes = blockArrayBytes(elementOf(op), kSide * kRow);
  } else {
    const CopyRows rows = rowsOf(box, dims);
    launch.grid = llvm::divideCeil(rows.rows() * (rows.length / lanesOf(op, box, rows)), kThreads);
  }
  if (box.operand)
    launch.params.push_back(operandParam(op, *box.operand));
  launch.params.push_back(resultParam(op, 0));
  return launch;
}

/// A vector of a row for each thread, or of zeros.
static void copyRows(KernelFunction &function, const CopyRows &copy, int64_t lanes, Value source,
                     Value destination, Type element) {
  Emitter &emit = function.emit();
  const int64_t steps = copy.length / lanes;
  function.tiles([&](Value tile) {
    Value step = emit.add(emit.mul(tile, kThreads), function.thread());
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

/// Neighbouring threads read neighbours along `outer`, and write neighbours along `inner`.
static void copySquares(KernelFunction &function, const CopySquares &copy, Value source, Value result,
                        Type element) {
  Emitter &emit = function.emit();
  const int64_t across = copy.across(kSide), squares = copy.down(kSide) * across;
  Value square = function.blockArray(element, kSide * kRow);
  function.tiles([&](Value tile) {
    Value box = emit.divide(tile, squares), index = emit.remainder(tile, squares);
    Value from = offsetOf(emit, box, copy.shape, copy.sourceStrides, copy.sourceOffset),
          to = offsetOf(emit, box, copy.shape, copy.resultStrides, copy.resultOffset);
    Value outer = emit.mul(emit.divide(index, across), kSide),
          inner = emit.mul(emit.remainder(index, across), kSide);
    Value near = emit.remainder(function.thread(), kSide), far = emit.divide(function.thread(), kSide);
    auto inside = [&](Value i, Value j) -> Value {
      return arith::AndIOp::create(emit.builder, emit.loc, emit.less(i, emit.i64(copy.outer.size)),
                                   emit.less(j, emit.i64(copy.inner.size)));
    };
    for (int64_t k = 0; k < kSide; k += kThreads / kSide) {
      Value down = near, along = emit.add(far, k), i = emit.add(outer, down), j = emit.add(inner, along);
      emit.when(inside(i, j), [&] {
        Value at = emit.add(emit.add(from, i), emit.mul(j, copy.inner.sourceStride));
        emit.store(emit.load({source, element, at}),
                   {square, element, emit.add(emit.mul(along, kRow), down)});
      });
    }
    function.barrier();
    for (int64_t k = 0; k < kSide; k += kThreads / kSide) {
      Value down = emit.add(far, k), along = near, i = emit.add(outer, down), j = emit.add(inner, along);
      emit.when(inside(i, j), [&] {
        Value at = emit.add(emit.add(to, emit.mul(i, copy.outer.resultStride)), j);
        emit.store(emit.load({square, element, emit.add(emit.mul(along, kRow), down)}),
                   {result, element, at});
      });
    }
  });
}

static std::string copyBox(StridedCopyOpInterface op, const StridedBox &box, KernelModule &kernels) {
  const SmallVector<CopyDim> dims = dimsOf(box);
  const LaunchSummary launch = summariseBox(op, box);
  KernelFunction function(kernels, launch);
  Value source = box.operand ? function.operand(*box.operand) : Value();
  if (isTransposed(dims)) {
    copySquares(function, squaresOf(box, dims), source, function.result(0), elementOf(op));
  } else {
    const CopyRows rows = rowsOf(box, dims);
    copyRows(function, rows, lanesOf(op, box, rows), source, function.result(0), elementOf(op));
  }
  return function.finish();
}

KernelSummary trainc::codegen::cuda::summariseCopy(StridedCopyOpInterface op) {
  KernelSummary kernels;
  for (const StridedBox &box : op.getBoxes())
    kernels.launches.push_back(summariseBox(op, box));
  return kernels;
}

Symbols trainc::codegen::cuda::generateCopy(StridedCopyOpInterface op, KernelModule &kernels) {
  Symbols symbols;
  for (const StridedBox &box : op.getBoxes())
    symbols.push_back(copyBox(op, box, kernels));
  return symbols;
}
