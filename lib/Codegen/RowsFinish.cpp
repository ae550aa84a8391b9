// The launches that combine what a row kernel's tiles leave of reductions: partial results in the order of
// tiles, elements of rows in that of their tree.
#include "lib/Codegen/RowsEmitter.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

static constexpr int64_t kColumnsPerTile = 4096, kLanes = 64;

namespace {

/// One launch for all reductions of one width.
class FinishEmitter {
public:
  FinishEmitter(const RowsPlan &plan, ModuleOp kernels, int64_t width)
      : plan(plan), function(kernels, "finish"), emit(function.emit()), width(width) {}

  KernelLaunch run(GeneratedKernels &generated) {
    SmallVector<std::pair<TileReduction, std::pair<Value, Value>>> reductions;
    for (const TileReduction &reduction : plan.tileReductions) {
      if (reduction.direct || reduction.width != width)
        continue;
      Type element = getElementTypeOrSelf(Value(reduction.op));
      Value from = function.param(scratchParam(generated, reduction.scratch, Access::Read, element));
      Value to = function.param(resultParam(plan.kernel, reduction.result));
      reductions.push_back({reduction, {from, to}});
    }
    function.tiles(llvm::divideCeil(width, kColumnsPerTile), [&](Value tile) {
      Value begin = emit.mul(tile, kColumnsPerTile);
      Value end = emit.min(emit.add(begin, kColumnsPerTile), emit.i64(width));
      for (auto &[reduction, pointers] : reductions) {
        auto [from, to] = pointers;
        if (reduction.ofRows)
          emit.store(reduceRow(emit, reduction.op, from, plan.rows),
                     {to, getElementTypeOrSelf(Value(reduction.op)), emit.i64(0)});
        else
          columns(reduction.op, from, to, begin, end);
      }
    });
    return function.finish();
  }

private:
  void columns(nn::ReduceOp op, Value from, Value to, Value begin, Value end) {
    if (width < kLanes)
      return emit.loop(begin, end, 1, [&](Value column) { strip(op, from, to, column, 0, Mask()); });
    Value whole = emit.add(begin, emit.mul(emit.divide(emit.sub(end, begin), kLanes), kLanes));
    emit.loop(begin, whole, kLanes, [&](Value column) { strip(op, from, to, column, kLanes, Mask()); });
    if (width % kLanes != 0)
      strip(op, from, to, whole, kLanes, emit.lanesBelow(emit.sub(end, whole), kLanes));
  }

  void strip(nn::ReduceOp op, Value from, Value to, Value column, int64_t lanes, Mask mask) {
    Type element = getElementTypeOrSelf(Value(op));
    Value first = emit.load({from, element, column}, lanes, mask);
    Value sum = emit.loop(emit.i64(1), emit.i64(plan.grid), 1, first, [&](Value tile, ValueRange carried) {
      Value next = emit.load({from, element, emit.add(emit.mul(tile, width), column)}, lanes, mask);
      return SmallVector<Value>{combine(emit, op.getKind(), carried[0], next)};
    })[0];
    emit.store(scaleMean(emit, op, sum), {to, element, column}, mask);
  }

  const RowsPlan &plan;
  KernelFunction function;
  Emitter &emit;
  int64_t width;
};

} // namespace

void trainc::codegen::emitFinish(const RowsPlan &plan, ModuleOp kernels, GeneratedKernels &generated) {
  llvm::SetVector<int64_t> widths;
  for (const TileReduction &reduction : plan.tileReductions)
    if (!reduction.direct)
      widths.insert(reduction.width);
  for (int64_t width : widths)
    generated.launches.push_back(FinishEmitter(plan, kernels, width).run(generated));
}
