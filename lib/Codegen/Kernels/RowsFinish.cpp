// Partial results are combined in the order of tiles, elements of rows in the order of their tree.
#include "lib/Codegen/Kernels/RowsFinish.h"
#include "dialects/NN/Builders.h"
#include "lib/Codegen/Kernels/Reductions.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

/// Tile size with one thread.
static constexpr int64_t kColumnsPerTile = 4096, kLanes = 64;
/// Block size with several threads. Each thread of a warp has one column, and each warp of the block has its
/// own tiles, so that few columns use many threads. Each reduction has its own blocks. A single column is
/// shared by all threads.
static constexpr int64_t kThreads = 512, kWarps = kThreads / kWarp;

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

  void tileOfThreads(Value tile) {
    if (width == 1)
      return oneColumn();
    Value sums = function.blockArray(emit.builder.getI64Type(), kThreads);
    const int64_t tiles = llvm::divideCeil(width, kWarp); // per reduction
    Value which = emit.divide(tile, tiles), lane = emit.remainder(function.thread(), kWarp);
    Value column = emit.add(emit.mul(emit.remainder(tile, tiles), kWarp), lane);
    Value isReal = emit.less(column, emit.i64(width)),
          isFirst = emit.less(function.thread(), emit.i64(kWarp));
    for (auto [index, reduction] : llvm::enumerate(reductions)) {
      Value isThis = arith::CmpIOp::create(emit.builder, emit.loc, arith::CmpIPredicate::eq, which,
                                           emit.i64(int64_t(index)));
      emit.when(isThis, [&] { // uniform for all threads of the block
        emit.when(isReal, [&] { storeOwn(reduction, column, sums); });
        function.barrier();
        emit.when(isFirst, [&] { emit.when(isReal, [&] { storeTotal(reduction, column, lane, sums); }); });
      });
    }
  }

  /// Warp w sums the tiles w, w + warps, ...
  void storeOwn(const TileReduction &reduction, Value column, Value sums) {
    const Type partial = sumElement(reduction.op);
    const nn::ReduceKind kind = nn::ReduceOp(reduction.op).getKind();
    Value from = function.scratch(reduction.scratch), warp = emit.divide(function.thread(), kWarp);
    Value own = emit.loop(warp, emit.i64(plan.rowTiles), kWarps, identityOf(emit, kind, partial),
                          [&](Value tile, ValueRange carried) {
                            Value next = emit.load({from, partial, emit.add(emit.mul(tile, width), column)});
                            return SmallVector<Value>{combine(emit, kind, carried[0], next)};
                          })[0];
    emit.store(own, {sums, partial, function.thread()});
  }

  /// Warps are summed in order.
  void storeTotal(const TileReduction &reduction, Value column, Value lane, Value sums) {
    nn::ReduceOp op = reduction.op;
    const Type partial = sumElement(op);
    Value total = emit.load({sums, partial, lane});
    for (int64_t warp = 1; warp < std::min(kWarps, plan.rowTiles); ++warp)
      total = combine(emit, op.getKind(), total,
                      emit.load({sums, partial, emit.add(lane, emit.i64(warp * kWarp))}));
    emit.store(scaleMean(emit, op, total), {function.result(reduction.result), elementOf(reduction), column});
  }

  void oneColumn() {
    ThreadReduction threads(function, /*count=*/1, function.threads());
    for (const TileReduction &reduction : reductions) {
      Value sum = reduction.ofRows ? reduceRow(threads, function, reduction.op,
                                               function.scratch(reduction.scratch), plan.rows)
                                   : sumOfPieces(threads, reduction);
      function.once(
          [&] { emit.store(sum, {function.result(reduction.result), elementOf(reduction), emit.i64(0)}); });
    }
  }

  /// Completes a reduction like reducePieces(), from pieces that tiles have reduced.
  Value sumOfPieces(ThreadReduction &threads, const TileReduction &reduction) {
    nn::ReduceOp op = reduction.op;
    const Type partial = sumElement(op);
    Value from = function.scratch(reduction.scratch);
    Value own = emit.loop(function.thread(), emit.i64(plan.rowTiles), function.threads(),
                          identityOf(emit, op.getKind(), partial), [&](Value tile, ValueRange carried) {
                            return SmallVector<Value>{
                                combine(emit, op.getKind(), carried[0], emit.load({from, partial, tile}))};
                          })[0];
    return scaleMean(emit, op, threads.over(op.getKind(), own)[0]);
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
    Type element = getElementTypeOrSelf(Value(op)), partial = sumElement(op);
    Value first = emit.load({from, partial, column}, lanes, mask);
    Value sum =
        emit.loop(emit.i64(1), emit.i64(plan.rowTiles), 1, first, [&](Value tile, ValueRange carried) {
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
    if (plan.threads == 1) {
      launch.grid = llvm::divideCeil(width, kColumnsPerTile);
    } else {
      launch.grid = width == 1 ? 1 : launch.grid + int64_t(llvm::divideCeil(width, kWarp));
      launch.threads = kThreads;
      launch.sharedBytes = width == 1 ? threadSumBytes(kThreads) : kThreads * int64_t(sizeof(int64_t));
    }
    launch.params.push_back(
        scratchParam(kernels, reduction.scratch, plan::Access::read, sumElement(reduction.op)));
    launch.params.push_back(resultParam(plan.facts.kernel, reduction.result));
  }
  for (auto &[width, launch] : byWidth)
    kernels.launches.push_back(std::move(launch));
}

std::string trainc::codegen::emitFinish(const RowsPlan &plan, const LaunchSummary &launch,
                                        KernelModule &kernels) {
  return FinishEmitter(plan, launch, kernels).run();
}
