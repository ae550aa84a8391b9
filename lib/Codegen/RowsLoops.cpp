// The loops of a row kernel: tiles, rows, passes over columns.
#include "lib/Codegen/RowsEmitter.h"
#include "lib/Support/StoredElement.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

static Type elementOf(Value value) { return getElementTypeOrSelf(value); }

RowsEmitter::RowsEmitter(const RowsPlan &plan, ModuleOp kernels, GeneratedKernels &generated)
    : plan(plan), generated(generated), function(kernels, "rows"), emit(function.emit()) {}

void RowsEmitter::run() {
  declareParams();
  function.tiles(plan.grid, [&](Value index) { tile(index); });
  generated.launches.push_back(function.finish());
}

void RowsEmitter::declareParams() {
  nn::KernelOp kernel = plan.kernel;
  for (unsigned i = 0; i < kernel.getNumOperands(); ++i)
    inputs.push_back(function.param(operandParam(kernel, i)));
  outputs.assign(kernel.getNumResults(), Value());
  auto isScratch = [&](unsigned result) {
    return llvm::any_of(plan.tileReductions,
                        [&](const TileReduction &r) { return r.result == result && !r.direct; });
  };
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    if (!isScratch(i))
      outputs[i] = function.param(resultParam(kernel, i));
  for (const TileReduction &reduction : plan.tileReductions) {
    if (reduction.direct)
      continue;
    Type element = elementOf(reduction.op);
    generated.scratchBytes.push_back(plan.grid * reduction.width * elementBytes(element));
    scratch.push_back(function.param(scratchParam(generated, reduction.scratch, Access::Write, element)));
  }
  stack.resize(plan.stackBuffers);
  for (auto &[value, stash] : plan.stashes)
    if (!stash.isResult)
      stack[stash.index] = function.stackArray(elementOf(value), plan.columns);
}

//===-- Tiles and rows ------------------------------------------------------------------------===//

void RowsEmitter::tile(Value index) {
  currentTile = index;
  shared = RowState();
  shared.row = emit.i64(0);
  tileScalars();
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

void RowsEmitter::rowBlock(Value first, int64_t count) {
  SmallVector<RowState> rows(count);
  for (auto [i, row] : llvm::enumerate(rows)) {
    row.row = emit.add(first, int64_t(i));
    rowScalars(0, row);
  }
  for (int64_t index = 0; index < plan.space.passes(); ++index) {
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
  return emit.min(emit.sub(emit.i64(plan.space.columns()), done), emit.i64(plan.columns));
}

//===-- Passes over columns -------------------------------------------------------------------===//

void RowsEmitter::pass(int64_t index, MutableArrayRef<RowState> rows) {
  SmallVector<nn::ReduceOp> reductions = plan.rowReductions(index);
  bool partials = llvm::any_of(plan.tileReductions, [&](const TileReduction &reduction) {
    return plan.alongColumns(reduction.op) && plan.space.depth(reduction.op.getX()) == index;
  });
  if (reductions.empty() && !partials && plan.stored(index).empty())
    return;
  SmallVector<Value> sums;
  for ([[maybe_unused]] RowState &row : rows)
    for (nn::ReduceOp reduce : reductions)
      sums.push_back(identityOf(emit, reduce.getKind(), Emitter::laneType(elementOf(reduce), plan.lanes)));
  Value count = columnCount();
  int64_t total = plan.flat ? plan.space.columns() : plan.columns;
  Value whole = plan.flat ? emit.mul(emit.divide(count, plan.lanes), plan.lanes)
                          : emit.i64(plan.columns / plan.lanes * plan.lanes);
  sums = emit.loop(emit.i64(0), whole, plan.lanes, sums, [&](Value column, ValueRange carried) {
    return step({index, column, Mask()}, rows, carried);
  });
  if (total % plan.lanes != 0) {
    Mask mask = emit.lanesBelow(emit.sub(count, whole), plan.lanes);
    sums = step({index, whole, mask}, rows, sums);
  }
  size_t next = 0;
  for (RowState &row : rows)
    for (nn::ReduceOp reduce : reductions) {
      Value sum = combineLanes(emit, reduce.getKind(), sums[next++]);
      row.scalars[reduce.getResult()] = plan.isTileReduction(reduce) ? sum : scaleMean(emit, reduce, sum);
    }
}

/// Everything is computed before anything is stored, so that results may take the place of inputs.
SmallVector<Value> RowsEmitter::step(const Step &at, MutableArrayRef<RowState> rows, ValueRange sums) {
  SmallVector<Value> next;
  SmallVector<Value> stored = plan.stored(at.pass);
  for (RowState &row : rows) {
    row.lanes.clear();
    for (nn::ReduceOp reduce : plan.rowReductions(at.pass)) {
      Value sum = sums[next.size()], value = lanes(reduce.getX(), row, at);
      Value added = combine(emit, reduce.getKind(), sum, value);
      if (at.mask)
        added = arith::SelectOp::create(emit.builder, emit.loc, at.mask, added, sum);
      next.push_back(added);
    }
    for (Value value : stored)
      lanes(value, row, at);
  }
  addToPartials(at, rows);
  for (RowState &row : rows) {
    for (Value value : stored)
      storeStep(at, row, value);
    row.lanes.clear();
  }
  return next;
}

void RowsEmitter::storeStep(const Step &at, RowState &row, Value value) {
  Value computed = lanes(value, row, at);
  Value index = emit.add(emit.mul(row.row, plan.columns), at.column);
  for (auto [result, yielded] : llvm::enumerate(plan.yield().getValues()))
    if (plan.strip(yielded) == value && !plan.isTileReduction(yielded) && plan.alongColumns(yielded))
      emit.store(computed, {outputs[result], elementOf(yielded), index}, at.mask);
  auto found = plan.stashes.find(value);
  if (found == plan.stashes.end())
    return;
  RowsPlan::Stash stash = found->second;
  if (!stash.isResult)
    emit.store(computed, {stack[stash.index], elementOf(value), at.column}, at.mask);
  else if (plan.strip(plan.yield().getValues()[stash.index]) != value)
    emit.store(computed, {outputs[stash.index], elementOf(value), index}, at.mask);
}

//===-- Partial results of tiles --------------------------------------------------------------===//

Address RowsEmitter::partial(const TileReduction &reduction, Value column) {
  Type element = elementOf(reduction.op);
  if (reduction.direct)
    return {outputs[reduction.result], element, column};
  return {scratch[reduction.scratch], element, emit.add(emit.mul(currentTile, reduction.width), column)};
}

void RowsEmitter::addToPartials(const Step &at, MutableArrayRef<RowState> rows) {
  for (const TileReduction &reduction : plan.tileReductions) {
    nn::ReduceOp op = reduction.op;
    if (!plan.alongColumns(op) || plan.space.depth(op.getX()) != at.pass)
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
    Type element = elementOf(op);
    int64_t lanes = reduction.width == 1 ? 0 : plan.lanes;
    Value identity = identityOf(emit, op.getKind(), Emitter::laneType(element, lanes));
    if (lanes == 0) {
      emit.store(identity, partial(reduction, emit.i64(0)));
      continue;
    }
    Value whole = emit.i64(plan.columns / lanes * lanes);
    emit.loop(emit.i64(0), whole, lanes,
              [&](Value column) { emit.store(identity, partial(reduction, column)); });
    if (plan.columns % lanes != 0)
      emit.store(identity, partial(reduction, whole), emit.lanesBelow(emit.i64(plan.columns % lanes), lanes));
  }
}

//===-- Results that do not vary along columns ------------------------------------------------===//

void RowsEmitter::finishRow(RowState &row) {
  for (const TileReduction &reduction : plan.tileReductions) {
    nn::ReduceOp op = reduction.op;
    if (plan.alongColumns(op))
      continue;
    Value value = plan.alongColumns(op.getX()) ? row.scalars.at(op.getResult()) : scalar(op.getX(), row);
    Address address = partial(reduction, emit.i64(0));
    emit.store(combine(emit, op.getKind(), emit.load(address), value), address);
  }
  for (auto [result, yielded] : llvm::enumerate(plan.yield().getValues()))
    if (!plan.alongColumns(yielded) && !plan.isTileReduction(yielded) && !isTileScalar(yielded))
      emit.store(scalar(yielded, row), {outputs[result], elementOf(yielded), row.row});
}

void RowsEmitter::storeScalars(Value tile) {
  auto store = [&] {
    for (auto [result, yielded] : llvm::enumerate(plan.yield().getValues()))
      if (isTileScalar(yielded) && !plan.isTileReduction(yielded))
        emit.store(scalar(yielded, shared), {outputs[result], elementOf(yielded), emit.i64(0)});
  };
  if (llvm::any_of(plan.yield().getValues(),
                   [&](Value value) { return isTileScalar(value) && !plan.isTileReduction(value); }))
    emit.when(arith::CmpIOp::create(emit.builder, emit.loc, arith::CmpIPredicate::eq, tile, emit.i64(0)),
              store);
}
