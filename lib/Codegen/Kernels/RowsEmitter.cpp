#include "lib/Codegen/Kernels/RowsEmitter.h"
#include "dialects/NN/Builders.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

RowsEmitter::RowsEmitter(const RowsPlan &plan, const LaunchSummary &launch, KernelModule &kernels)
    : plan(plan), function(kernels, launch), emit(function.emit()), access(plan, function), values(access),
      columnSums(access, values), results(access, values) {
  if (plan.threads > 1 && plan.threadSums > 0)
    threadSums.emplace(function, plan.threadSums, plan.rowThreads());
}

std::string RowsEmitter::run() {
  function.tiles([&](Value index) { tile(index); });
  return function.finish();
}

// --- Tiles and rows ---

void RowsEmitter::tile(Value index) {
  access.enterTile(index);
  values.startTile();
  if (plan.linear) {
    linearStep(index);
    return results.storeTileScalars(index);
  }
  if (plan.rowsAtOnce > 1) {
    rowBlock(emit.add(emit.mul(index, plan.rowsAtOnce), access.rowOfBlock()), 1);
    return results.storeTileScalars(index);
  }
  columnSums.start();
  Value first = emit.mul(access.tile(), plan.rowsPerTile);
  Value end = emit.min(emit.add(first, plan.rowsPerTile), emit.i64(plan.rows));
  if (plan.rowsPerTile == 1) {
    rowBlock(first, 1);
  } else if (plan.rowBlock == 1) {
    rowsOfTile(first, end, 1);
  } else {
    Value count = emit.mul(emit.divide(emit.sub(end, first), plan.rowBlock), plan.rowBlock);
    Value blocksEnd = emit.add(first, count);
    rowsOfTile(first, blocksEnd, plan.rowBlock);
    rowsOfTile(blocksEnd, end, 1);
  }
  columnSums.store();
  results.storeTileScalars(index);
}

/// Returns the current values of `places`.
static SmallVector<Value> valuesOf(ArrayRef<Value *> places) {
  return llvm::map_to_vector(places, [](Value *place) { return *place; });
}
static void setValues(ArrayRef<Value *> places, ValueRange values) {
  for (auto [place, value] : llvm::zip_equal(places, values))
    *place = value;
}

/// Processes the rows of a tile, `count` at a time.
void RowsEmitter::rowsOfTile(Value first, Value end, int64_t count) {
  const SmallVector<Value *> held = columnSums.heldInRows();
  setValues(held, emit.loop(first, end, count, valuesOf(held), [&](Value row, ValueRange carried) {
    setValues(held, carried);
    rowBlock(row, count);
    return valuesOf(held);
  }));
}

/// Processes this thread's step among all steps of all rows.
void RowsEmitter::linearStep(Value tile) {
  const int64_t steps = llvm::divideCeil(plan.columns, plan.lanes);
  Value step = emit.add(emit.mul(tile, plan.threads), function.thread());
  emit.when(emit.less(step, emit.i64(plan.rows * steps)), [&] {
    RowState row;
    row.row = emit.divide(step, steps);
    values.startPass(0, row);
    Value column = steps == 1 ? emit.i64(0) : emit.mul(emit.remainder(step, steps), plan.lanes);
    stepWithTail(column, row);
    auto finish = [&] {
      results.storeRowScalars(row);
      results.storePadding(row, /*isShared=*/false);
    };
    steps == 1 ? finish() : emit.when(access.isZero(column), finish);
  });
}

/// Processes the columns of one step; the last step of a row may have fewer.
void RowsEmitter::stepWithTail(Value column, RowState &row) {
  if (!access.hasTail())
    return step({0, column, plan.lanes, Mask()}, row);
  Value whole = emit.i64(plan.columns / plan.lanes * plan.lanes), last = emit.sub(whole, emit.i64(1));
  emit.when(emit.less(column, whole), [&] { step({0, column, plan.lanes, Mask()}, row); });
  emit.when(emit.less(last, column), [&] {
    emit.loop(whole, emit.i64(plan.columns), 1, [&](Value at) { step({0, at, 1, Mask()}, row); });
  });
}

void RowsEmitter::rowBlock(Value first, int64_t count) {
  SmallVector<RowState> rows(count);
  for (auto [i, row] : llvm::enumerate(rows)) {
    row.row = emit.add(first, int64_t(i));
    values.startPass(0, row);
  }
  for (int64_t index = 0; index < plan.facts.passes(); ++index) {
    pass(index, rows);
    for (RowState &row : rows)
      values.startPass(index + 1, row);
  }
  for (RowState &row : rows)
    results.finishRow(row);
}

// --- Passes over columns ---

void RowsEmitter::pass(int64_t index, MutableArrayRef<RowState> rows) {
  startSums(index, rows);
  bool partials = llvm::any_of(plan.tileReductions, [&](const TileReduction &reduction) {
    return plan.facts.isAlongColumns(reduction.op) && plan.facts.depth(reduction.op.getX()) == index;
  });
  if (sums.empty() && !partials && plan.stashes.stored(index).empty())
    return;
  SmallVector<Value> totals;
  if (threadSums && !sums.empty()) {
    totals = reducePieces(
        *threadSums, function, llvm::map_to_vector(sums, [](LaneSum &sum) { return sum.op; }), plan.columns,
        access.columnCount(), [&](Value begin, Value end) { return piece(index, rows, begin, end); });
  } else if (plan.columns <= SumTree::kPiece || sums.empty()) {
    totals = piece(index, rows, emit.i64(0), access.columnCount());
  } else {
    for (LaneSum &sum : sums)
      totals.push_back(identityOf(emit, sum.op.getKind(), sumElement(sum.op)));
    Value end = emit.i64(plan.columns);
    totals = emit.loop(emit.i64(0), end, SumTree::kPiece, totals, [&](Value begin, ValueRange carried) {
      SmallVector<Value> next = piece(index, rows, begin, emit.min(emit.add(begin, SumTree::kPiece), end));
      for (auto [sum, before, total] : llvm::zip(sums, carried, next))
        total = combine(emit, sum.op.getKind(), before, total);
      return next;
    });
  }
  for (auto [i, sum] : llvm::enumerate(sums)) {
    bool isPartial = plan.isTileReduction(sum.op);
    rows[i / (sums.size() / rows.size())].scalars[sum.op.getResult()] =
        isPartial ? totals[i]
                  : emit.rounded(scaleMean(emit, sum.op, totals[i]), getElementTypeOrSelf(sum.op));
  }
}

void RowsEmitter::startSums(int64_t pass, ArrayRef<RowState> rows) {
  sums.clear();
  for (size_t row = 0; row < rows.size(); ++row)
    for (nn::ReduceOp reduce : plan.facts.rowReductions(pass))
      sums.emplace_back(function, reduce, plan.sumLanes(reduce), plan.lanes);
}

SmallVector<Value *> RowsEmitter::held(int64_t lanes) {
  SmallVector<Value *> held;
  for (LaneSum &sum : sums)
    if (sum.carried)
      held.push_back(&sum.carried);
  held.append(columnSums.heldInColumns(lanes));
  return held;
}

/// Processes columns from `begin` to `end`, at most one piece of the sums along them, and returns these sums.
SmallVector<Value> RowsEmitter::piece(int64_t pass, MutableArrayRef<RowState> rows, Value begin, Value end) {
  for (LaneSum &sum : sums)
    sum.start();
  auto walk = [&](Value first, Value last, int64_t lanes, int64_t distance) {
    const SmallVector<Value *> held = this->held(lanes);
    setValues(held, emit.loop(first, last, distance, valuesOf(held), [&](Value column, ValueRange carried) {
      setValues(held, carried);
      step({pass, column, lanes, Mask()}, rows);
      return valuesOf(held);
    }));
  };
  Value whole = end;
  if (plan.threads == 1)
    whole = emit.add(begin, emit.mul(emit.divide(emit.sub(end, begin), plan.lanes), plan.lanes));
  else if (access.hasTail())
    whole = emit.mul(emit.divide(end, plan.lanes), plan.lanes);
  walk(plan.threads == 1 ? begin : emit.add(begin, access.firstColumn()), whole, plan.lanes,
       access.columnStep());
  if (access.hasTail() && plan.threads > 1)
    walk(emit.add(whole, access.rowThread()), end, 1, plan.rowThreads());
  else if (access.hasTail())
    step({pass, whole, plan.lanes, emit.lanesBelow(emit.sub(end, whole), plan.lanes)}, rows);
  return llvm::map_to_vector(sums, [](LaneSum &sum) { return sum.total(); });
}

/// Computes everything before storing anything, so that results may overwrite inputs.
void RowsEmitter::step(const ColumnStep &at, MutableArrayRef<RowState> rows) {
  SmallVector<Value> stored = plan.stashes.stored(at.pass);
  LaneSum *sum = sums.begin();
  for (RowState &row : rows) {
    row.lanes.clear();
    for (size_t i = 0; i < sums.size() / rows.size(); ++i, ++sum)
      sum->add(values.lanes(sum->op.getX(), row, at), at.column, at.mask);
    for (Value value : stored)
      values.lanes(value, row, at);
  }
  columnSums.add(at, rows);
  for (RowState &row : rows) {
    for (Value value : stored)
      results.storeStep(at, row, value);
    row.lanes.clear();
  }
}
