// The loops of a row kernel: tiles, rows, passes over columns.
#include "dialects/NN/Builders.h"
#include "lib/Codegen/Kernels/RowsEmitter.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

static Type elementOf(Value value) { return getElementTypeOrSelf(value); }
/// Of partial results, which are rounded when they are complete.
static Type partialElement(nn::ReduceOp op) { return nn::wideElement(elementOf(op)); }

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
      blockRows[stash.index] = function.blockArray(elementOf(value), plan.columns);
  if (plan.threads > 1 && plan.threadSums > 0)
    threadSums.emplace(function, plan.threadSums);
}

// --- Tiles and rows ---

void RowsEmitter::tile(Value index) {
  currentTile = index;
  shared = RowState();
  shared.row = emit.i64(0);
  tileScalars();
  if (plan.linear) {
    linearStep(index);
    return storeScalars(index);
  }
  clearPartials();
  Value first = emit.mul(index, plan.rowsPerTile);
  Value end = emit.min(emit.add(first, plan.rowsPerTile), emit.i64(plan.rows));
  if (plan.rowsPerTile == 1) {
    rowBlock(first, 1);
  } else if (plan.rowBlock == 1) {
    emit.loop(first, end, 1, [&](Value row) { rowBlock(row, 1); });
  } else {
    Value count = emit.mul(emit.divide(emit.sub(end, first), plan.rowBlock), plan.rowBlock);
    Value blocksEnd = emit.add(first, count);
    emit.loop(first, blocksEnd, plan.rowBlock, [&](Value row) { rowBlock(row, plan.rowBlock); });
    emit.loop(blocksEnd, end, 1, [&](Value row) { rowBlock(row, 1); });
  }
  storeScalars(index);
}

/// This thread's step among all steps of all rows.
void RowsEmitter::linearStep(Value tile) {
  const int64_t steps = plan.columns / plan.lanes;
  Value step = emit.add(emit.mul(tile, plan.threads), function.thread());
  emit.when(emit.less(step, emit.i64(plan.rows * steps)), [&] {
    RowState row;
    row.row = emit.divide(step, steps);
    rowScalars(0, row);
    Value column = steps == 1 ? emit.i64(0) : emit.mul(emit.remainder(step, steps), plan.lanes);
    this->step({0, column, Mask()}, row);
    auto finish = [&] { storeRowScalars(row); };
    steps == 1 ? finish() : emit.when(isZero(column), finish);
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
  return plan.threads == 1 ? emit.i64(0) : emit.mul(function.thread(), plan.lanes);
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
  if (plan.columns <= SumTree::kPiece || sums.empty() || plan.threads > 1) {
    totals = piece(index, rows, emit.i64(0), columnCount());
  } else {
    for (LaneSum &sum : sums)
      totals.push_back(identityOf(emit, sum.op.getKind(), partialElement(sum.op)));
    Value end = emit.i64(plan.columns);
    totals = emit.loop(emit.i64(0), end, SumTree::kPiece, totals, [&](Value begin, ValueRange carried) {
      SmallVector<Value> next = piece(index, rows, begin, emit.min(emit.add(begin, SumTree::kPiece), end));
      for (auto [sum, before, total] : llvm::zip(sums, carried, next))
        total = combine(emit, sum.op.getKind(), before, total);
      return next;
    });
  }
  if (threadSums && !sums.empty())
    totals =
        threadSums->over(llvm::map_to_vector(sums, [](LaneSum &sum) { return sum.op.getKind(); }), totals);
  for (auto [i, sum] : llvm::enumerate(sums)) {
    bool isPartial = plan.isTileReduction(sum.op);
    rows[i / (sums.size() / rows.size())].scalars[sum.op.getResult()] =
        isPartial ? totals[i] : emit.rounded(scaleMean(emit, sum.op, totals[i]), elementOf(sum.op));
  }
}

void RowsEmitter::startSums(int64_t pass, ArrayRef<RowState> rows) {
  sums.clear();
  for (size_t row = 0; row < rows.size(); ++row)
    for (nn::ReduceOp reduce : plan.facts.rowReductions(pass))
      sums.emplace_back(function, reduce, plan.sumLanes(reduce), plan.lanes);
}

/// Columns from `begin` to `end`, at most a piece of the sums along them; returns these.
SmallVector<Value> RowsEmitter::piece(int64_t pass, MutableArrayRef<RowState> rows, Value begin, Value end) {
  for (LaneSum &sum : sums)
    sum.start();
  auto inRegisters = [&] {
    return llvm::make_filter_range(sums, [](const LaneSum &sum) { return sum.carried != nullptr; });
  };
  auto lanesOf = [&] {
    return llvm::map_to_vector(inRegisters(), [](const LaneSum &sum) { return sum.carried; });
  };
  auto setLanes = [&](ValueRange carried) {
    for (auto [sum, value] : llvm::zip(inRegisters(), carried))
      sum.carried = value;
  };
  const bool hasTail = (plan.flat ? plan.facts.columns : plan.columns) % plan.lanes != 0;
  Value whole = end;
  if (plan.threads == 1)
    whole = emit.add(begin, emit.mul(emit.divide(emit.sub(end, begin), plan.lanes), plan.lanes));
  Value first = plan.threads == 1 ? begin : emit.add(begin, firstColumn());
  setLanes(emit.loop(first, whole, columnStep(), lanesOf(), [&](Value column, ValueRange carried) {
    setLanes(carried);
    step({pass, column, Mask()}, rows);
    return lanesOf();
  }));
  if (hasTail)
    step({pass, whole, emit.lanesBelow(emit.sub(end, whole), plan.lanes)}, rows);
  return llvm::map_to_vector(sums, [](LaneSum &sum) { return sum.total(); });
}

/// Everything is computed before anything is stored, so that results may take the place of inputs.
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
  addToPartials(at, rows);
  for (RowState &row : rows) {
    for (Value value : stored)
      storeStep(at, row, value);
    row.lanes.clear();
  }
}

void RowsEmitter::storeStep(const Step &at, RowState &row, Value value) {
  Value computed = lanes(value, row, at);
  Value index = emit.add(emit.mul(row.row, plan.columns), at.column);
  for (auto [result, yielded] : llvm::enumerate(plan.facts.yield().getValues()))
    if (plan.facts.strip(yielded) == value && !plan.isTileReduction(yielded) &&
        plan.facts.isAlongColumns(yielded))
      emit.store(computed, {outputs[result], elementOf(yielded), index}, at.mask);
  auto found = plan.stashes.find(value);
  if (found == plan.stashes.end())
    return;
  RowsPlan::Stash stash = found->second;
  if (!stash.isResult)
    emit.store(computed, {blockRows[stash.index], elementOf(value), at.column}, at.mask);
  else if (plan.facts.strip(plan.facts.yield().getValues()[stash.index]) != value)
    emit.store(computed, {outputs[stash.index], elementOf(value), index}, at.mask);
}

// --- Partial results of tiles ---

Address RowsEmitter::partial(const TileReduction &reduction, Value column) {
  Type element = partialElement(reduction.op);
  if (reduction.direct)
    return {outputs[reduction.result], element, column};
  return {scratch[reduction.scratch], element, emit.add(emit.mul(currentTile, reduction.width), column)};
}

void RowsEmitter::addToPartials(const Step &at, MutableArrayRef<RowState> rows) {
  for (const TileReduction &reduction : plan.tileReductions) {
    nn::ReduceOp op = reduction.op;
    if (!plan.facts.isAlongColumns(op) || plan.facts.depth(op.getX()) != at.pass)
      continue;
    Address address = partial(reduction, at.column);
    Value sum = emit.load(address, plan.lanes, at.mask);
    for (RowState &row : rows)
      sum = combine(emit, op.getKind(), sum, lanes(op.getX(), row, at));
    emit.store(sum, address, at.mask);
  }
}

void RowsEmitter::clearPartials() {
  for (const TileReduction &reduction : plan.tileReductions) {
    nn::ReduceOp op = reduction.op;
    if (!plan.facts.isAlongColumns(op))
      continue;
    const int64_t lanes = plan.lanes;
    Value identity = identityOf(emit, op.getKind(), Emitter::laneType(partialElement(op), lanes));
    Value whole = emit.i64(plan.columns / lanes * lanes);
    emit.loop(firstColumn(), whole, columnStep(),
              [&](Value column) { emit.store(identity, partial(reduction, column)); });
    if (plan.columns % lanes != 0)
      emit.store(identity, partial(reduction, whole), emit.lanesBelow(emit.i64(plan.columns % lanes), lanes));
  }
}

// --- Results that do not vary along columns ---

void RowsEmitter::finishRow(RowState &row) {
  auto isScalar = [&](Value value) { return !plan.facts.isAlongColumns(value) && !isTileScalar(value); };
  if (!plan.tileReductions.empty() || llvm::any_of(plan.facts.yield().getValues(), isScalar))
    function.once([&] {
      storeRowReductions(row);
      storeRowScalars(row);
    });
}

void RowsEmitter::storeRowReductions(RowState &row) {
  for (const TileReduction &reduction : plan.tileReductions) {
    nn::ReduceOp op = reduction.op;
    if (plan.facts.isAlongColumns(op))
      continue;
    if (reduction.ofRows)
      emit.store(scalar(op.getX(), row), {scratch[reduction.scratch], partialElement(op), row.row});
    else // a flat row's piece, which is its tile
      emit.store(row.scalars.at(op.getResult()), partial(reduction, emit.i64(0)));
  }
}

void RowsEmitter::storeRowScalars(RowState &row) {
  for (auto [result, yielded] : llvm::enumerate(plan.facts.yield().getValues()))
    if (!plan.facts.isAlongColumns(yielded) && !plan.isTileReduction(yielded) && !isTileScalar(yielded))
      emit.store(scalar(yielded, row), {outputs[result], elementOf(yielded), row.row});
}

void RowsEmitter::storeScalars(Value tile) {
  auto store = [&] {
    for (auto [result, yielded] : llvm::enumerate(plan.facts.yield().getValues()))
      if (isTileScalar(yielded) && !plan.isTileReduction(yielded))
        emit.store(scalar(yielded, shared), {outputs[result], elementOf(yielded), emit.i64(0)});
  };
  if (llvm::any_of(plan.facts.yield().getValues(),
                   [&](Value value) { return isTileScalar(value) && !plan.isTileReduction(value); }))
    function.once([&] { emit.when(isZero(tile), store); });
}
