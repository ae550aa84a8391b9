// Loops of a row kernel: tiles, rows, passes over columns.
#include "dialects/NN/Builders.h"
#include "lib/Codegen/Kernels/RowsEmitter.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

RowsEmitter::RowsEmitter(const RowsPlan &plan, const LaunchSummary &launch, KernelModule &kernels)
    : plan(plan), function(kernels, launch), emit(function.emit()) {}

std::string RowsEmitter::run() {
  findArguments();
  function.tiles([&](Value index) { tile(index); });
  return function.finish();
}

void RowsEmitter::findArguments() {
  nn::KernelOp kernel = plan.facts.kernel;
  for (unsigned i = 0; i < kernel.getNumOperands(); ++i)
    inputs.push_back(function.operand(i));
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    outputs.push_back(plan.isFinishedLater(i) ? Value() : function.result(i));
  for (const TileReduction &reduction : plan.tileReductions)
    if (!reduction.direct)
      scratch.push_back(function.scratch(reduction.scratch));
  blockRows.resize(plan.blockBuffers);
  for (auto &[value, stash] : plan.stashes)
    if (!stash.isResult)
      blockRows[stash.index] =
          function.blockArray(getElementTypeOrSelf(value), plan.rowsAtOnce * plan.blockRow());
  if (plan.threads > 1 && plan.threadSums > 0)
    threadSums.emplace(function, plan.threadSums, plan.rowThreads());
}

// --- Tiles and rows ---

void RowsEmitter::tile(Value index) {
  currentTile = plan.columnTiles == 1 ? index : emit.divide(index, plan.columnTiles);
  currentColumnTile = plan.columnTiles == 1 ? Value() : emit.remainder(index, plan.columnTiles);
  shared = RowState();
  shared.row = emit.i64(0);
  tileScalars();
  if (plan.linear) {
    linearStep(index);
    return storeScalars(index);
  }
  if (plan.rowsAtOnce > 1) {
    rowBlock(emit.add(emit.mul(index, plan.rowsAtOnce), rowOfBlock()), 1);
    return storeScalars(index);
  }
  startColumnSums();
  Value first = emit.mul(currentTile, plan.rowsPerTile);
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
  storeColumnSums();
  storeScalars(index);
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
  SmallVector<Value *> held;
  for (ColumnSum &sum : columnSums) {
    held.push_back(&sum.vector);
    if (hasTail())
      held.push_back(&sum.rest);
  }
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
    rowScalars(0, row);
    Value column = steps == 1 ? emit.i64(0) : emit.mul(emit.remainder(step, steps), plan.lanes);
    stepWithTail(column, row);
    auto finish = [&] {
      storeRowScalars(row);
      storePadding(row, /*isShared=*/false);
    };
    steps == 1 ? finish() : emit.when(isZero(column), finish);
  });
}

/// Processes the columns of one step; the last step of a row may have fewer.
void RowsEmitter::stepWithTail(Value column, RowState &row) {
  if (!hasTail())
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
    rowScalars(0, row);
  }
  for (int64_t index = 0; index < plan.facts.passes(); ++index) {
    pass(index, rows);
    for (RowState &row : rows)
      rowScalars(index + 1, row);
  }
  for (RowState &row : rows)
    finishRow(row);
}

Value RowsEmitter::columnCount() {
  if (!plan.flat)
    return emit.i64(plan.columns);
  Value done = emit.mul(currentTile, plan.columns);
  return emit.min(emit.sub(emit.i64(plan.facts.columns), done), emit.i64(plan.columns));
}

Value RowsEmitter::isZero(Value number) {
  return arith::CmpIOp::create(emit.builder, emit.loc, arith::CmpIPredicate::eq, number, emit.i64(0));
}

Value RowsEmitter::firstColumn() {
  return plan.threads == 1 ? emit.i64(0) : emit.mul(rowThread(), plan.lanes);
}

Value RowsEmitter::rowThread() {
  if (currentColumnTile)
    return emit.add(emit.mul(currentColumnTile, plan.threads), function.thread());
  return plan.rowsAtOnce == 1 ? function.thread() : emit.remainder(function.thread(), plan.rowThreads());
}

Value RowsEmitter::rowOfBlock() { return emit.divide(function.thread(), plan.rowThreads()); }

/// Synchronises, and then runs `body` on one thread of each row.
void RowsEmitter::onceARow(llvm::function_ref<void()> body) {
  if (plan.rowsAtOnce == 1)
    return function.once(body);
  function.barrier();
  emit.when(isZero(rowThread()), body);
}

// --- Passes over columns ---

void RowsEmitter::pass(int64_t index, MutableArrayRef<RowState> rows) {
  startSums(index, rows);
  bool partials = llvm::any_of(plan.tileReductions, [&](const TileReduction &reduction) {
    return plan.facts.isAlongColumns(reduction.op) && plan.facts.depth(reduction.op.getX()) == index;
  });
  if (sums.empty() && !partials && plan.stored(index).empty())
    return;
  SmallVector<Value> totals;
  if (threadSums && !sums.empty()) {
    totals = reducePieces(
        *threadSums, function, llvm::map_to_vector(sums, [](LaneSum &sum) { return sum.op; }), plan.columns,
        columnCount(), [&](Value begin, Value end) { return piece(index, rows, begin, end); });
  } else if (plan.columns <= SumTree::kPiece || sums.empty()) {
    totals = piece(index, rows, emit.i64(0), columnCount());
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
  for (ColumnSum &sum : columnSums)
    held.push_back(lanes == plan.lanes ? &sum.vector : &sum.rest);
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
  else if (hasTail())
    whole = emit.mul(emit.divide(end, plan.lanes), plan.lanes);
  walk(plan.threads == 1 ? begin : emit.add(begin, firstColumn()), whole, plan.lanes, columnStep());
  if (hasTail() && plan.threads > 1)
    walk(emit.add(whole, rowThread()), end, 1, plan.rowThreads());
  else if (hasTail())
    step({pass, whole, plan.lanes, emit.lanesBelow(emit.sub(end, whole), plan.lanes)}, rows);
  return llvm::map_to_vector(sums, [](LaneSum &sum) { return sum.total(); });
}

/// Computes everything before storing anything, so that results may overwrite inputs.
void RowsEmitter::step(const Step &at, MutableArrayRef<RowState> rows) {
  SmallVector<Value> stored = plan.stored(at.pass);
  LaneSum *sum = sums.begin();
  for (RowState &row : rows) {
    row.lanes.clear();
    for (size_t i = 0; i < sums.size() / rows.size(); ++i, ++sum)
      sum->add(lanes(sum->op.getX(), row, at), at.column, at.mask);
    for (Value value : stored)
      lanes(value, row, at);
  }
  addToColumnSums(at, rows);
  for (RowState &row : rows) {
    for (Value value : stored)
      storeStep(at, row, value);
    row.lanes.clear();
  }
}
