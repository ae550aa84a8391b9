// The micro-kernel of matrix products, once for every instruction-set level.
#include "lib/Codegen/FmaProducts.h"
#include "lib/Codegen/Levels.h"

#include "lib/Support/StoredElement.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace trainc::codegen;
using namespace trainc::codegen::fma;

namespace {

/// Builds the body for one level: register tiles of rows x columns one after the other.
class MicroKernel {
public:
  MicroKernel(OpBuilder &builder, func::FuncOp function, Type element, const Level &level)
      : emit(builder), element(element), rows(level.registerRows), columns(level.registerColumns),
        a(function.getArgument(0)), b(function.getArgument(1)), c(function.getArgument(2)),
        depth(function.getArgument(3)), stride(function.getArgument(4)), validRows(function.getArgument(5)),
        validColumns(function.getArgument(6)), adds(function.getArgument(7)) {}

  void run() {
    prefetchC();
    emit.loop(emit.i64(0), emit.i64(kPanelRows), rows, [&](Value row) {
      emit.loop(emit.i64(0), emit.i64(kPanelColumns), columns,
                [&](Value column) { registerTile(row, column); });
    });
  }

private:
  static constexpr int64_t kLanes = 16, kUnroll = 4;

  /// The rows of C come from far away, and are wanted when the products are done.
  void prefetchC() {
    for (int64_t row = 0; row < kPanelRows; ++row)
      for (int64_t column = 0; column < kPanelColumns; column += kLanes) {
        emit.prefetch(emit.pointer(c, element, emit.add(emit.mul(stride, row), column)), /*forWrite=*/true);
      }
  }

  /// sums += a[p, :] b[p, :], for the `count` terms from p on.
  SmallVector<Value> terms(Value fromA, Value fromB, Value p, int64_t count, ValueRange carried) {
    SmallVector<Value> sums(carried);
    fromA = emit.pointer(fromA, element, emit.mul(p, kPanelRows));
    fromB = emit.pointer(fromB, element, emit.mul(p, kPanelColumns));
    for (int64_t u = 0; u < count; ++u) {
      SmallVector<Value> right;
      for (int64_t j = 0; j < columns; j += kLanes)
        right.push_back(emit.load({fromB, element, emit.i64(u * kPanelColumns + j)}, kLanes));
      for (int64_t i = 0; i < rows; ++i) {
        Value left = emit.splat(emit.load({fromA, element, emit.i64(u * kPanelRows + i)}), kLanes);
        for (auto [j, lanes] : llvm::enumerate(right)) {
          Value &sum = sums[i * right.size() + j];
          sum = math::FmaOp::create(emit.builder, emit.loc, left, lanes, sum);
        }
      }
    }
    return sums;
  }

  void registerTile(Value row, Value column) {
    Value fromA = emit.pointer(a, element, row), fromB = emit.pointer(b, element, column);
    SmallVector<Value> sums(rows * columns / kLanes, emit.constant(Emitter::laneType(element, kLanes), 0));
    Value whole = emit.mul(emit.divide(depth, kUnroll), kUnroll);
    sums = emit.loop(emit.i64(0), whole, kUnroll, sums,
                     [&](Value p, ValueRange carried) { return terms(fromA, fromB, p, kUnroll, carried); });
    sums = emit.loop(whole, depth, 1, sums,
                     [&](Value p, ValueRange carried) { return terms(fromA, fromB, p, 1, carried); });
    Value to = emit.pointer(c, element, emit.add(emit.mul(stride, row), column));
    Value rowsLeft = emit.sub(validRows, row), columnsLeft = emit.sub(validColumns, column);
    Value inside = arith::AndIOp::create(emit.builder, emit.loc, emit.less(emit.i64(rows - 1), rowsLeft),
                                         emit.less(emit.i64(columns - 1), columnsLeft));
    emit.when(inside, [&] {
      for (auto [i, sum] : llvm::enumerate(sums))
        store(sum, to, i / (columns / kLanes), i % (columns / kLanes) * kLanes, Mask());
    });
    Value outside = emit.less(
        emit.min(emit.sub(rowsLeft, emit.i64(rows)), emit.sub(columnsLeft, emit.i64(columns))), emit.i64(0));
    emit.when(outside, [&] { writeEdge(to, sums, rowsLeft, columnsLeft); });
  }

  void writeEdge(Value to, ArrayRef<Value> sums, Value rowsLeft, Value columnsLeft) {
    const int64_t vectors = columns / kLanes;
    for (int64_t i = 0; i < rows; ++i)
      emit.when(emit.less(emit.i64(i), rowsLeft), [&] {
        for (int64_t j = 0; j < vectors; ++j)
          store(sums[i * vectors + j], to, i, j * kLanes,
                emit.lanesBelow(emit.sub(columnsLeft, emit.i64(j * kLanes)), kLanes));
      });
  }

  void store(Value sum, Value to, int64_t row, int64_t column, Mask mask) {
    Address at{to, element, emit.add(emit.mul(stride, row), column)};
    Value before = emit.load(at, kLanes, mask), none = emit.constant(sum.getType(), 0);
    before = arith::SelectOp::create(emit.builder, emit.loc, emit.less(emit.i64(0), adds), before, none);
    emit.store(emit.add(before, sum), at, mask);
  }

  Emitter emit;
  Type element;
  const int64_t rows, columns; // of a register tile
  Value a, b, c, depth, stride, validRows, validColumns, adds;
};

} // namespace

func::FuncOp fma::microKernel(ModuleOp kernels, Type element) {
  return functionWithVariants(kernels, "gemm_micro_kernel", argumentTypes(kernels.getContext(), 3, 5),
                              [&](OpBuilder &body, func::FuncOp function, const Level &level) {
                                MicroKernel(body, function, element, level).run();
                              });
}

ProductScheme trainc::codegen::fmaProducts(ModuleOp kernels, Type element, LaneOrder a, LaneOrder b) {
  ProductScheme scheme{.panelRows = kPanelRows,
                       .panelColumns = kPanelColumns,
                       .depthBlock = kDepthBlock,
                       .tileRows = 256,
                       .tileColumns = 384,
                       .packedBytes = elementBytes(element),
                       .onMatrixUnit = false};
  auto pack = [&](int64_t lanes, LaneOrder order) {
    return packPanels(kernels, element, lanes, order, scheme.panelStride(lanes) / scheme.packedBytes);
  };
  scheme.packA = pack(kPanelRows, a);
  scheme.packB = pack(kPanelColumns, b);
  scheme.multiply = microKernel(kernels, element);
  return scheme;
}
