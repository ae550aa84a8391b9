// Stores of a row kernel: results, values that later passes read back, partial results of tiles.
#include "dialects/NN/Builders.h"
#include "lib/Codegen/Kernels/RowsEmitter.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

void RowsEmitter::storeStep(const Step &at, RowState &row, Value value) {
  Value computed = lanes(value, row, at);
  Value index = emit.add(emit.mul(row.row, plan.columns), at.column); // without padding
  auto place = [&](unsigned result, Type element) {
    return plan.resultRow(result) == plan.columns ? Place{{outputs[result], element, index}, plan.columns}
                                                  : inResult(result, element, row, at.column);
  };
  for (auto [result, yielded] : llvm::enumerate(plan.facts.yield().getValues()))
    if (plan.facts.strip(yielded) == value && !plan.isTileReduction(yielded) &&
        plan.facts.isAlongColumns(yielded))
      store(computed, place(result, getElementTypeOrSelf(yielded)), at);
  auto found = plan.stashes.find(value);
  if (found == plan.stashes.end())
    return;
  RowsPlan::Stash stash = found->second;
  if (!stash.isResult)
    store(computed, inBlock(stash.index, getElementTypeOrSelf(value), at.column), at);
  else if (plan.facts.strip(plan.facts.yield().getValues()[stash.index]) != value)
    store(computed, place(stash.index, getElementTypeOrSelf(value)), at);
}

RowsEmitter::Place RowsEmitter::inBlock(unsigned array, Type element, Value column) {
  if (plan.rowsAtOnce > 1)
    column = emit.add(emit.mul(rowOfBlock(), plan.blockRow()), column);
  return {{blockRows[array], element, column}, plan.lanes};
}

RowsEmitter::Place RowsEmitter::inResult(unsigned result, Type element, RowState &row, Value column) {
  const int64_t distance = plan.resultRow(result);
  return {{outputs[result], element, emit.add(emit.mul(row.row, distance), column)}, distance};
}

/// Stores zeros, so that repeated runs give the same bytes and a search for NaN finds none. With `isShared`,
/// all threads execute this.
void RowsEmitter::storePadding(RowState &row, bool isShared) {
  for (auto [result, yielded] : llvm::enumerate(plan.facts.yield().getValues())) {
    if (plan.resultRow(result) == plan.columns)
      continue;
    const Type element = getElementTypeOrSelf(yielded);
    Value first = emit.i64(plan.columns);
    if (isShared)
      first = emit.add(first, rowThread());
    emit.loop(first, emit.i64(plan.resultRow(result)), isShared ? plan.rowThreads() : 1, [&](Value column) {
      emit.store(emit.constant(nn::wideElement(element), 0), inResult(result, element, row, column).address);
    });
  }
}

// --- Sums of columns over the rows of a tile ---

RowsEmitter::Place RowsEmitter::partial(const TileReduction &reduction, Value column) {
  if (reduction.direct)
    return {{outputs[reduction.result], getElementTypeOrSelf(Value(reduction.op)), column}, reduction.width};
  return {{scratch[reduction.scratch], sumElement(reduction.op),
           emit.add(emit.mul(currentTile, reduction.width), column)},
          reduction.width};
}

void RowsEmitter::addToColumnSums(const Step &at, MutableArrayRef<RowState> rows) {
  auto isOfStep = [&](const TileReduction &reduction) {
    nn::ReduceOp op = reduction.op;
    return plan.facts.isAlongColumns(op) && plan.facts.depth(op.getX()) == at.pass;
  };
  auto added = [&](nn::ReduceOp op, Value sum) {
    for (RowState &row : rows)
      sum = combine(emit, op.getKind(), sum, lanes(op.getX(), row, at));
    return sum;
  };
  for (ColumnSum &sum : columnSums)
    if (isOfStep(*sum.reduction)) {
      Value &part = at.lanes == plan.lanes ? sum.vector : sum.rest;
      part = added(sum.reduction->op, part);
    }
  if (plan.holdsColumnSums())
    return;
  for (const TileReduction &reduction : plan.tileReductions)
    if (isOfStep(reduction)) {
      const Place place = partial(reduction, at.column);
      store(added(reduction.op, load(place, at)), place, at);
    }
}

void RowsEmitter::startColumnSums() {
  columnSums.clear();
  for (const TileReduction &reduction : plan.tileReductions) {
    nn::ReduceOp op = reduction.op;
    auto none = [&](int64_t lanes) {
      return identityOf(emit, op.getKind(), Emitter::laneType(sumElement(op), lanes));
    };
    if (!plan.facts.isAlongColumns(op))
      continue;
    if (plan.holdsColumnSums())
      columnSums.push_back({&reduction, none(plan.lanes), hasTail() ? none(1) : Value()});
    else
      clearPartials(reduction);
  }
}

void RowsEmitter::clearPartials(const TileReduction &reduction) {
  nn::ReduceOp op = reduction.op;
  const int64_t lanes = plan.lanes;
  Value identity = identityOf(emit, op.getKind(), Emitter::laneType(sumElement(op), lanes));
  Value whole = emit.i64(plan.columns / lanes * lanes);
  emit.loop(firstColumn(), whole, columnStep(),
            [&](Value column) { store(identity, partial(reduction, column), {0, column, lanes, Mask()}); });
  if (plan.columns % lanes == 0)
    return;
  if (plan.threads > 1)
    emit.loop(emit.add(whole, function.thread()), emit.i64(plan.columns), plan.threads, [&](Value column) {
      emit.store(identityOf(emit, op.getKind(), sumElement(op)), partial(reduction, column).address);
    });
  else
    store(identity, partial(reduction, whole),
          {0, whole, lanes, emit.lanesBelow(emit.i64(plan.columns % lanes), lanes)});
}

/// Stores the column sums that threads keep in registers.
void RowsEmitter::storeColumnSums() {
  const int64_t whole = plan.columns / plan.lanes * plan.lanes;
  auto storePart = [&](const TileReduction &reduction, Value part, Value column, int64_t lanes, int64_t end) {
    emit.when(emit.less(column, emit.i64(end)), [&] {
      store(reduction.direct ? scaleMean(emit, reduction.op, part) : part, partial(reduction, column),
            {0, column, lanes, Mask()});
    });
  };
  for (const ColumnSum &sum : columnSums) {
    storePart(*sum.reduction, sum.vector, firstColumn(), plan.lanes, whole);
    if (hasTail())
      storePart(*sum.reduction, sum.rest, emit.add(rowThread(), whole), 1, plan.columns);
  }
}

// --- Results that do not vary along columns ---

void RowsEmitter::finishRow(RowState &row) {
  storePadding(row, /*isShared=*/true);
  auto isScalar = [&](Value value) { return !plan.facts.isAlongColumns(value) && !isTileScalar(value); };
  auto isOfRow = [&](const TileReduction &each) { return !plan.facts.isAlongColumns(each.op); };
  if (llvm::any_of(plan.tileReductions, isOfRow) || llvm::any_of(plan.facts.yield().getValues(), isScalar))
    onceARow([&] {
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
      emit.store(scalar(op.getX(), row), {scratch[reduction.scratch], sumElement(op), row.row});
    else // a flat row's piece, which is its tile
      emit.store(row.scalars.at(op.getResult()), partial(reduction, emit.i64(0)).address);
  }
}

void RowsEmitter::storeRowScalars(RowState &row) {
  for (auto [result, yielded] : llvm::enumerate(plan.facts.yield().getValues()))
    if (!plan.facts.isAlongColumns(yielded) && !plan.isTileReduction(yielded) && !isTileScalar(yielded))
      emit.store(scalar(yielded, row), {outputs[result], getElementTypeOrSelf(yielded), row.row});
}

void RowsEmitter::storeScalars(Value tile) {
  auto store = [&] {
    for (auto [result, yielded] : llvm::enumerate(plan.facts.yield().getValues()))
      if (isTileScalar(yielded) && !plan.isTileReduction(yielded))
        emit.store(scalar(yielded, shared), {outputs[result], getElementTypeOrSelf(yielded), emit.i64(0)});
  };
  if (llvm::any_of(plan.facts.yield().getValues(),
                   [&](Value value) { return isTileScalar(value) && !plan.isTileReduction(value); }))
    function.once([&] { emit.when(isZero(tile), store); });
}
