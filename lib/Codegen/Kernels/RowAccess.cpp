#include "lib/Codegen/Kernels/RowAccess.h"
#include "dialects/NN/Builders.h"
#include "lib/Codegen/Kernels/Reductions.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

RowAccess::RowAccess(const RowsPlan &plan, KernelFunction &function)
    : plan(plan), function(function), emit(function.emit()) {
  nn::KernelOp kernel = plan.facts.kernel;
  for (unsigned i = 0; i < kernel.getNumOperands(); ++i)
    inputs.push_back(function.operand(i));
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    outputs.push_back(plan.isFinishedLater(i) ? Value() : function.result(i));
  for (const TileReduction &reduction : plan.tileReductions)
    if (!reduction.direct)
      scratch.push_back(function.scratch(reduction.scratch));
  blockRows.resize(plan.stashes.buffers());
  for (auto &[value, stash] : plan.stashes.all())
    if (!stash.isResult)
      blockRows[stash.index] =
          function.blockArray(getElementTypeOrSelf(value), plan.rowsAtOnce * plan.blockRow());
}

// --- The thread's rows and columns ---

void RowAccess::enterTile(Value index) {
  currentTile = plan.columnTiles == 1 ? index : emit.divide(index, plan.columnTiles);
  currentColumnTile = plan.columnTiles == 1 ? Value() : emit.remainder(index, plan.columnTiles);
}

Value RowAccess::columnCount() {
  if (!plan.flat)
    return emit.i64(plan.columns);
  Value done = emit.mul(currentTile, plan.columns);
  return emit.min(emit.sub(emit.i64(plan.facts.columns), done), emit.i64(plan.columns));
}

Value RowAccess::isZero(Value number) {
  return arith::CmpIOp::create(emit.builder, emit.loc, arith::CmpIPredicate::eq, number, emit.i64(0));
}

Value RowAccess::firstColumn() { return plan.threads == 1 ? emit.i64(0) : emit.mul(rowThread(), plan.lanes); }

Value RowAccess::rowThread() {
  if (currentColumnTile)
    return emit.add(emit.mul(currentColumnTile, plan.threads), function.thread());
  return plan.rowsAtOnce == 1 ? function.thread() : emit.remainder(function.thread(), plan.rowThreads());
}

Value RowAccess::rowOfBlock() { return emit.divide(function.thread(), plan.rowThreads()); }

void RowAccess::onceARow(llvm::function_ref<void()> body) {
  if (plan.rowsAtOnce == 1)
    return function.once(body);
  function.barrier();
  emit.when(isZero(rowThread()), body);
}

// --- Places along rows ---

/// Returns the lanes of one access of a step: GPUs access vectors aligned to their size.
int64_t RowAccess::pieceOf(const RowPlace &place, const ColumnStep &step) const {
  return plan.threads == 1 ? step.lanes : std::gcd(place.alignment, step.lanes);
}

/// Shorter accesses are joined as bits.
Value RowAccess::load(const RowPlace &from, const ColumnStep &step) {
  const int64_t piece = pieceOf(from, step);
  const auto &[base, element, index] = from.address;
  if (piece == step.lanes)
    return emit.load(from.address, step.lanes, step.mask);
  const Type moved = nn::isLowPrecision(element) ? memoryElement(element) : element;
  SmallVector<Value> each;
  for (int64_t begin = 0; begin < step.lanes; begin += piece) {
    Value loaded = emit.load({base, moved, emit.add(index, begin)}, piece);
    for (int64_t lane = 0; lane < piece; ++lane)
      each.push_back(vector::ExtractOp::create(emit.builder, emit.loc, loaded, lane));
  }
  Value joined =
      vector::FromElementsOp::create(emit.builder, emit.loc, Emitter::laneType(moved, step.lanes), each);
  if (moved == element)
    return joined;
  return emit.rounded(
      arith::BitcastOp::create(emit.builder, emit.loc, Emitter::laneType(element, step.lanes), joined),
      element);
}

void RowAccess::store(Value value, const RowPlace &to, const ColumnStep &step) {
  const int64_t piece = pieceOf(to, step);
  const auto &[base, element, index] = to.address;
  if (piece == step.lanes)
    return emit.store(value, to.address, step.mask);
  for (int64_t begin = 0; begin < step.lanes; begin += piece) {
    SmallVector<Value> each;
    for (int64_t lane = begin; lane < begin + piece; ++lane)
      each.push_back(vector::ExtractOp::create(emit.builder, emit.loc, value, lane));
    emit.store(vector::FromElementsOp::create(emit.builder, emit.loc,
                                              Emitter::laneType(getElementTypeOrSelf(value), piece), each),
               {base, element, emit.add(index, begin)});
  }
}

RowPlace RowAccess::inBlock(unsigned array, Type element, Value column) {
  if (plan.rowsAtOnce > 1)
    column = emit.add(emit.mul(rowOfBlock(), plan.blockRow()), column);
  return {{blockRows[array], element, column}, plan.lanes};
}

RowPlace RowAccess::inResult(unsigned result, Type element, Value row, Value column) {
  const int64_t distance = plan.resultRow(result);
  return {{outputs[result], element, emit.add(emit.mul(row, distance), column)}, distance};
}

RowPlace RowAccess::partial(const TileReduction &reduction, Value column) {
  if (reduction.direct)
    return {{outputs[reduction.result], getElementTypeOrSelf(Value(reduction.op)), column}, reduction.width};
  return {{scratch[reduction.scratch], sumElement(reduction.op),
           emit.add(emit.mul(currentTile, reduction.width), column)},
          reduction.width};
}
