#include "lib/Codegen/Kernels/RowValues.h"
#include "dialects/NN/Builders.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

static Type elementOf(Value value) { return getElementTypeOrSelf(value); }

bool RowValues::isTileScalar(Value value) const {
  return !plan.facts.isAlongColumns(value) && (plan.flat || plan.facts.isScalar(value));
}

// --- Rows ---

Value RowValues::mappedRow(Value value, RowState &row) {
  if (plan.facts.hasEveryRow(value))
    return isTileScalar(value) ? emit.i64(0) : row.row;
  auto known = row.mappedRows.find(value);
  if (known != row.mappedRows.end())
    return known->second;
  Value sum = emit.i64(0);
  int64_t stride = 1;
  for (const RowTerm &term : plan.facts.rowTerms(value))
    stride *= term.size;
  for (const RowTerm &term : plan.facts.rowTerms(value)) {
    stride /= term.size;
    Value index = emit.divide(row.row, term.divisor);
    if (term.divisor * term.size != plan.facts.rows)
      index = emit.remainder(index, term.size);
    sum = emit.add(sum, emit.mul(index, stride));
  }
  return row.mappedRows[value] = sum;
}

/// Returns the table's row for this row's id. Sets row.found; returns 0 if the id is out of range.
Value RowValues::gatherRow(nn::GatherOp gather, RowState &row) {
  Value result = gather.getResult();
  if (Value known = row.found.contains(result) ? row.mappedRows.lookup(result) : Value())
    return known;
  Value id = scalar(gather.getIds(), row);
  if (!id.getType().isInteger(64))
    id = arith::ExtSIOp::create(emit.builder, emit.loc, emit.builder.getI64Type(), id);
  int64_t count = cast<RankedTensorType>(gather.getTable().getType()).getDimSize(0);
  Value inRange =
      arith::CmpIOp::create(emit.builder, emit.loc, arith::CmpIPredicate::ult, id, emit.i64(count));
  row.found[result] = inRange;
  return row.mappedRows[result] = arith::SelectOp::create(emit.builder, emit.loc, inRange, id, emit.i64(0));
}

// --- Values that do not vary along columns ---

Value RowValues::scalar(Value value, RowState &row) {
  value = plan.facts.strip(value);
  if (isTileScalar(value))
    return shared.scalars.at(value);
  return row.scalars.at(value);
}

void RowValues::computeScalar(Value value, RowState &row) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    unsigned index = cast<BlockArgument>(value).getArgNumber();
    row.scalars[value] = emit.load({access.inputs[index], elementOf(value), mappedRow(value, row)});
    return;
  }
  if (auto gather = dyn_cast<nn::GatherOp>(op)) {
    Value tableRow = gatherRow(gather, row);
    unsigned table = cast<BlockArgument>(gather.getTable()).getArgNumber();
    Value loaded = emit.load({access.inputs[table], elementOf(value), tableRow});
    Value zero = emit.constant(loaded.getType(), 0);
    row.scalars[value] = arith::SelectOp::create(emit.builder, emit.loc, row.found[value], loaded, zero);
    return;
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(scalar(operand, row));
  row.scalars[value] = body(op, operands, 0, mappedRow(value, row), Value());
}

void RowValues::startPass(int64_t depth, RowState &row) {
  auto wanted = [&](Value value) {
    return !plan.facts.isTable(value) && plan.facts.strip(value) == value && !isTileScalar(value) &&
           plan.facts.depth(value) == depth;
  };
  Block &block = plan.facts.kernel.getBody().front();
  for (BlockArgument argument : block.getArguments()) {
    if (argument.use_empty() || !wanted(argument))
      continue;
    plan.facts.isAlongColumns(argument) ? void(mappedRow(argument, row)) : computeScalar(argument, row);
  }
  for (Operation &op : block.without_terminator()) {
    Value value = op.getResult(0);
    if (!wanted(value) || isa<nn::ReduceOp>(op))
      continue;
    if (!plan.facts.isAlongColumns(value))
      computeScalar(value, row);
    else if (auto gather = dyn_cast<nn::GatherOp>(op))
      gatherRow(gather, row);
    else
      mappedRow(value, row);
  }
}

void RowValues::startTile() {
  shared = RowState();
  shared.row = emit.i64(0);
  Block &block = plan.facts.kernel.getBody().front();
  auto compute = [&](Value value) {
    if (!plan.facts.isTable(value) && isTileScalar(value) && plan.facts.strip(value) == value)
      computeScalar(value, shared);
  };
  for (BlockArgument argument : block.getArguments())
    if (!argument.use_empty())
      compute(argument);
  for (Operation &op : block.without_terminator())
    if (!isa<nn::ReduceOp>(op))
      compute(op.getResult(0));
}

// --- Values along columns ---

Value RowValues::lanes(Value value, RowState &row, const ColumnStep &step) {
  value = plan.facts.strip(value);
  if (!plan.facts.isAlongColumns(value))
    return emit.splat(scalar(value, row), step.lanes);
  auto known = row.lanes.find(value);
  if (known != row.lanes.end())
    return known->second;
  Value computed = computeLanes(value, row, step);
  return row.lanes[value] = computed;
}

Value RowValues::loadLanes(Value argument, RowState &row, const ColumnStep &step) {
  unsigned index = cast<BlockArgument>(argument).getArgNumber();
  const int64_t distance = plan.inputRow(index);
  Value base = emit.mul(mappedRow(argument, row), distance);
  return access.load({{access.inputs[index], elementOf(argument), emit.add(base, step.column)}, distance},
                     step);
}

Value RowValues::computeLanes(Value value, RowState &row, const ColumnStep &step) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return loadLanes(value, row, step);
  if (const RowStashes::Stash *stash = plan.stashes.find(value, step.pass)) {
    const RowPlace there = stash->isResult
                               ? access.inResult(stash->index, elementOf(value), row.row, step.column)
                               : access.inBlock(stash->index, elementOf(value), step.column);
    return access.load(there, step);
  }
  if (auto gather = dyn_cast<nn::GatherOp>(op)) {
    unsigned table = cast<BlockArgument>(gather.getTable()).getArgNumber();
    Value index = emit.add(emit.mul(gatherRow(gather, row), plan.facts.columns), step.column);
    if (plan.flat) // the table's row is split into pieces like the kernel's
      index = emit.add(index, emit.mul(row.row, plan.columns));
    Value loaded = access.load({{access.inputs[table], elementOf(value), index}, plan.columns}, step);
    Value zero = emit.constant(loaded.getType(), 0);
    return arith::SelectOp::create(emit.builder, emit.loc, row.found[value], loaded, zero);
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(lanes(operand, row, step));
  return body(op, operands, step.lanes, emit.mul(mappedRow(value, row), plan.columns), step.column);
}

/// Builds an op's body. `linearBase` is the position of the row's first element (for scalars, of the
/// element); `column` is null for scalars.
Value RowValues::body(Operation *op, ValueRange operands, int64_t laneCount, Value linearBase, Value column) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  auto withLanes = [&](Value first) {
    return laneCount == 0 ? first : emit.add(emit.splat(first, laneCount), emit.lanesIota(laneCount));
  };
  // Positions within a row fit 32 bits. They are widened last, so that a body that truncates them computes in
  // 32 bits.
  auto columnLanes = [&]() -> Value {
    if (laneCount == 0 || plan.columns > std::numeric_limits<int32_t>::max())
      return withLanes(column);
    Type narrow = emit.builder.getI32Type();
    Value first = arith::TruncIOp::create(emit.builder, emit.loc, narrow, column);
    Value iota = arith::TruncIOp::create(emit.builder, emit.loc, Emitter::laneType(narrow, laneCount),
                                         emit.lanesIota(laneCount));
    Value sum = emit.add(emit.splat(first, laneCount), iota);
    return arith::ExtUIOp::create(emit.builder, emit.loc,
                                  Emitter::laneType(emit.builder.getI64Type(), laneCount), sum);
  };
  auto linear = [&]() -> Value { return withLanes(column ? emit.add(linearBase, column) : linearBase); };
  auto index = [&](unsigned dim) -> Value {
    int64_t stride = ShapedType::getNumElements(shape.drop_front(dim + 1)), size = shape[dim];
    if (column && !plan.flat && stride % plan.columns == 0) // the same in all columns
      return emit.splat(emit.remainder(emit.divide(linearBase, stride), size), laneCount);
    if (column && !plan.flat && plan.columns % (stride * size) == 0) { // the same in all rows
      Value quotient = emit.divide(columnLanes(), stride);
      return stride * size == plan.columns ? quotient : emit.remainder(quotient, size);
    }
    return emit.remainder(emit.divide(linear(), stride), size);
  };
  auto stream = [&](int64_t number) { return emit.splat(function.stream(number), laneCount); };
  LaneContext context{emit.loc, laneCount, index, linear, stream};
  return emit.rounded(cast<ElementwiseOpInterface>(op).buildBody(emit.builder, operands, context),
                      elementOf(op->getResult(0)));
}
