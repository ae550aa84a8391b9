// The launches that combine what a row kernel's tiles leave of reductions: partial results in the order of
// tiles, elements of rows in that of their tree.
#include "dialects/NN/Builders.h"
#include "lib/Codegen/Kernels/RowsEmitter.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

/// Of one thread; several share a tile of as many columns as there are threads, or a row of partial results.
static constexpr int64_t kColumnsPerTile = 4096, kLanes = 64, kThreads = 256;

namespace {

class FinishEmitter {
public:
  FinishEmitter(const RowsPlan &plan, const LaunchSummary &launch, KernelModule &kernels)
      : plan(plan), function(kernels, launch), emit(function.emit()) {
    for (const TileReduction &reduction : plan.tileReductions)
      if (llvm::any_of(launch.params, [&](const KernelParam &param) { return writes(param, reduction); })) {
        reductions.push_back(reduction);
        width = reduction.width;
      }
  }

  std::string run() {
    function.tiles([&](Value tile) { function.threads() > 1 ? tileOfThreads(tile) : tileOfColumns(tile); });
    return function.finish();
  }

private:
  void tileOfColumns(Value tile) {
    Value begin = emit.mul(tile, kColumnsPerTile);
    Value end = emit.min(emit.add(begin, kColumnsPerTile), emit.i64(width));
    for (const TileReduction &reduction : reductions) {
      Value from = function.scratch(reduction.scratch), to = function.result(reduction.result);
      if (reduction.ofRows)
        emit.store(reduceRow(emit, reduction.op, from, plan.rows), {to, elementOf(reduction), emit.i64(0)});
      else
        columns(reduction.op, from, to, begin, end);
    }
  }

  /// A column for each thread; if there is one column, all threads share it.
  void tileOfThreads(Value tile) {
    if (width == 1)
      return oneColumn();
    Value column = emit.add(emit.mul(tile, function.threads()), function.thread());
    emit.when(emit.less(column, emit.i64(width)), [&] {
      for (const TileReduction &reduction : reductions)
        strip(reduction.op, function.scratch(reduction.scratch), function.result(reduction.result), column, 0,
              Mask());
    });
  }

  void oneColumn() {
    ThreadReduction threads(function, /*count=*/1);
    for (const TileReduction &reduction : reductions) {
      Value sum = reduceRow(threads, function, reduction.op, function.scratch(reduction.scratch),
                            plan.scratchElements(reduction));
      function.once(
          [&] { emit.store(sum, {function.result(reduction.result), elementOf(reduction), emit.i64(0)}); });
    }
  }

  static Type elementOf(const TileReduction &reduction) { return getElementTypeOrSelf(Value(reduction.op)); }

  static bool writes(const KernelParam &param, const TileReduction &reduction) {
    return param.source == KernelParam::Source::Result && param.index == reduction.result;
  }

  void columns(nn::ReduceOp op, Value from, Value to, Value begin, Value end) {
    if (width < kLanes)
      return emit.loop(begin, end, 1, [&](Value column) { strip(op, from, to, column, 0, Mask()); });
    Value whole = emit.add(begin, emit.mul(emit.divide(emit.sub(end, begin), kLanes), kLanes));
    emit.loop(begin, whole, kLanes, [&](Value column) { strip(op, from, to, column, kLanes, Mask()); });
    if (width % kLanes != 0)
      strip(op, from, to, whole, kLanes, emit.lanesBelow(emit.sub(end, whole), kLanes));
  }

  void strip(nn::ReduceOp op, Value from, Value to, Value column, int64_t lanes, Mask mask) {
    Type element = getElementTypeOrSelf(Value(op)), partial = nn::wideElement(element);
    Value first = emit.load({from, partial, column}, lanes, mask);
    Value sum = emit.loop(emit.i64(1), emit.i64(plan.grid), 1, first, [&](Value tile, ValueRange carried) {
      Value next = emit.load({from, partial, emit.add(emit.mul(tile, width), column)}, lanes, mask);
      return SmallVector<Value>{combine(emit, op.getKind(), carried[0], next)};
    })[0];
    emit.store(scaleMean(emit, op, sum), {to, element, column}, mask);
  }

  const RowsPlan &plan;
  KernelFunction function;
  Emitter &emit;
  SmallVector<TileReduction> reductions;
  int64_t width = 0;
};

} // namespace

void trainc::codegen::summariseFinish(const RowsPlan &plan, KernelSummary &kernels) {
  llvm::MapVector<int64_t, LaunchSummary> byWidth;
  for (const TileReduction &reduction : plan.tileReductions) {
    if (reduction.direct)
      continue;
    const int64_t width = reduction.width;
    LaunchSummary &launch = byWidth[width];
    launch.name = "finish";
    launch.grid = llvm::divideCeil(width, plan.threads > 1 ? kThreads : kColumnsPerTile);
    if (plan.threads > 1)
      launch.threads = kThreads;
    if (plan.threads > 1 && width == 1)
      launch.sharedBytes = threadSumBytes(kThreads);
    launch.params.push_back(scratchParam(kernels, reduction.scratch, plan::Access::read,
                                         nn::wideElement(getElementTypeOrSelf(Value(reduction.op)))));
    launch.params.push_back(resultParam(plan.facts.kernel, reduction.result));
  }
  for (auto &[width, launch] : byWidth)
    kernels.launches.push_back(std::move(launch));
}

std::string trainc::codegen::emitFinish(const RowsPlan &plan, const LaunchSummary &launch,
                                        KernelModule &kernels) {
  return FinishEmitter(plan, launch, kernels).run();
}
