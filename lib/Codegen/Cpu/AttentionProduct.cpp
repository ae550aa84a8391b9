// The product of attention, with a variant for each instruction-set level.
#include "lib/Codegen/Cpu/AttentionTiles.h"
#include "lib/Codegen/Cpu/Levels.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace trainc::codegen;

namespace {

/// Builds the body for one level. A few rows of a few lanes are summed in registers at a time. Each element
/// is one chain of fused multiply-adds over the terms.
class ProductEmitter {
public:
  ProductEmitter(OpBuilder &builder, func::FuncOp function, Type element, int64_t width, const Level &level)
      : emit(builder), element(element), width(width), lanes(std::min<int64_t>(16, width)),
        rows(level.registerRows), columns(divisor(width, level.registerColumns, lanes)),
        out(function.getArgument(0)), from(function.getArgument(1)), packed(function.getArgument(2)),
        factor(function.getArgument(3)), count(function.getArgument(4)), terms(function.getArgument(5)),
        rowStride(function.getArgument(6)), termStride(function.getArgument(7)),
        adds(function.getArgument(8)) {}

  void run() {
    Value whole = emit.mul(emit.divide(count, rows), rows);
    emit.loop(emit.i64(0), whole, rows, [&](Value row) { acrossLanes(row, rows); });
    emit.loop(whole, count, 1, [&](Value row) { acrossLanes(row, 1); });
  }

private:
  /// Returns the greatest divisor of `width` that is a multiple of `lanes` and at most `max`.
  static int64_t divisor(int64_t width, int64_t max, int64_t lanes) {
    int64_t columns = std::min(max, width) / lanes * lanes;
    while (width % columns != 0)
      columns -= lanes;
    return columns;
  }

  void acrossLanes(Value row, int64_t height) {
    emit.loop(emit.i64(0), emit.i64(width), columns,
              [&](Value column) { registerTile(row, height, column); });
  }

  Address at(Value base, Value row, Value column) {
    return {base, element, emit.add(emit.mul(row, width), column)};
  }

  /// Returns the present value times its factor, or zero.
  Value start(Value row, Value column) {
    Value none = emit.constant(Emitter::laneType(element, lanes), 0);
    Value before =
        emit.mul(emit.load(at(out, row, column), lanes), emit.load({factor, element, column}, lanes));
    return arith::SelectOp::create(emit.builder, emit.loc, emit.less(emit.i64(0), adds), before, none);
  }

  void registerTile(Value first, int64_t height, Value column) {
    const int64_t vectors = columns / lanes;
    SmallVector<Value> sums, pointers;
    for (int64_t i = 0; i < height; ++i) {
      Value row = emit.add(first, i);
      pointers.push_back(emit.pointer(from, element, emit.mul(row, rowStride)));
      for (int64_t j = 0; j < vectors; ++j)
        sums.push_back(start(row, emit.add(column, j * lanes)));
    }
    sums = emit.loop(emit.i64(0), terms, 1, sums, [&](Value term, ValueRange carried) {
      SmallVector<Value> next(carried), right;
      for (int64_t j = 0; j < vectors; ++j)
        right.push_back(emit.load(at(packed, term, emit.add(column, j * lanes)), lanes));
      Value offset = emit.mul(term, termStride);
      for (int64_t i = 0; i < height; ++i) {
        Value left = emit.splat(emit.load({pointers[i], element, offset}), lanes);
        for (int64_t j = 0; j < vectors; ++j) {
          Value &sum = next[i * vectors + j];
          sum = math::FmaOp::create(emit.builder, emit.loc, left, right[j], sum);
        }
      }
      return next;
    });
    for (int64_t i = 0; i < height; ++i)
      for (int64_t j = 0; j < vectors; ++j)
        emit.store(sums[i * vectors + j], at(out, emit.add(first, i), emit.add(column, j * lanes)));
  }

  Emitter emit;
  Type element;
  const int64_t width;         // of a matrix
  const int64_t lanes;         // of a vector
  const int64_t rows, columns; // of a register tile
  Value out, from, packed, factor, count, terms, rowStride, termStride, adds;
};

} // namespace

func::FuncOp trainc::codegen::tileProduct(KernelModule &kernels, Type element, int64_t width) {
  return functionWithVariants(kernels, typedName("attention_product_" + std::to_string(width), element),
                              argumentTypes(kernels.getContext(), 4, 5),
                              [&](OpBuilder &body, func::FuncOp function, const Level &level) {
                                ProductEmitter(body, function, element, width, level).run();
                              });
}
