#include "lib/Codegen/Kernels/ColumnSums.h"
#include "lib/Codegen/Kernels/Reductions.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

void ColumnSums::add(const ColumnStep &at, MutableArrayRef<RowState> rows) {
  auto isOfStep = [&](const TileReduction &reduction) {
    nn::ReduceOp op = reduction.op;
    return plan.facts.isAlongColumns(op) && plan.facts.depth(op.getX()) == at.pass;
  };
  auto added = [&](nn::ReduceOp op, Value sum) {
    for (RowState &row : rows)
      sum = combine(emit, op.getKind(), sum, values.lanes(op.getX(), row, at));
    return sum;
  };
  for (Registers &sum : registers)
    if (isOfStep(*sum.reduction)) {
      Value &part = at.lanes == plan.lanes ? sum.vector : sum.rest;
      part = added(sum.reduction->op, part);
    }
  if (plan.holdsColumnSums())
    return;
  for (const TileReduction &reduction : plan.tileReductions)
    if (isOfStep(reduction)) {
      const RowPlace place = access.partial(reduction, at.column);
      access.store(added(reduction.op, access.load(place, at)), place, at);
    }
}

void ColumnSums::start() {
  registers.clear();
  for (const TileReduction &reduction : plan.tileReductions) {
    nn::ReduceOp op = reduction.op;
    auto none = [&](int64_t lanes) {
      return identityOf(emit, op.getKind(), Emitter::laneType(sumElement(op), lanes));
    };
    if (!plan.facts.isAlongColumns(op))
      continue;
    if (plan.holdsColumnSums())
      registers.push_back({&reduction, none(plan.lanes), access.hasTail() ? none(1) : Value()});
    else
      clearPartials(reduction);
  }
}

void ColumnSums::clearPartials(const TileReduction &reduction) {
  nn::ReduceOp op = reduction.op;
  const int64_t lanes = plan.lanes;
  Value identity = identityOf(emit, op.getKind(), Emitter::laneType(sumElement(op), lanes));
  Value whole = emit.i64(plan.columns / lanes * lanes);
  emit.loop(access.firstColumn(), whole, access.columnStep(), [&](Value column) {
    access.store(identity, access.partial(reduction, column), {0, column, lanes, Mask()});
  });
  if (plan.columns % lanes == 0)
    return;
  if (plan.threads > 1)
    emit.loop(emit.add(whole, access.function.thread()), emit.i64(plan.columns), plan.threads,
              [&](Value column) {
                emit.store(identityOf(emit, op.getKind(), sumElement(op)),
                           access.partial(reduction, column).address);
              });
  else
    access.store(identity, access.partial(reduction, whole),
                 {0, whole, lanes, emit.lanesBelow(emit.i64(plan.columns % lanes), lanes)});
}

void ColumnSums::store() {
  const int64_t whole = plan.columns / plan.lanes * plan.lanes;
  auto storePart = [&](const TileReduction &reduction, Value part, Value column, int64_t lanes, int64_t end) {
    emit.when(emit.less(column, emit.i64(end)), [&] {
      access.store(reduction.direct ? scaleMean(emit, reduction.op, part) : part,
                   access.partial(reduction, column), {0, column, lanes, Mask()});
    });
  };
  for (const Registers &sum : registers) {
    storePart(*sum.reduction, sum.vector, access.firstColumn(), plan.lanes, whole);
    if (access.hasTail())
      storePart(*sum.reduction, sum.rest, emit.add(access.rowThread(), whole), 1, plan.columns);
  }
}

SmallVector<Value *> ColumnSums::heldInRows() {
  SmallVector<Value *> held;
  for (Registers &sum : registers) {
    held.push_back(&sum.vector);
    if (access.hasTail())
      held.push_back(&sum.rest);
  }
  return held;
}

SmallVector<Value *> ColumnSums::heldInColumns(int64_t lanes) {
  SmallVector<Value *> held;
  for (Registers &sum : registers)
    held.push_back(lanes == plan.lanes ? &sum.vector : &sum.rest);
  return held;
}
