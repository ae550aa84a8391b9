// Placements of a group's values in one given space, by propagation through the ops.
#include "lib/Analysis/SpaceSolver.h"

#include "dialects/NN/NN.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trainc;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }
static int64_t countOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }
static bool isTable(OpOperand &operand) {
  return isa<nn::GatherOp>(operand.getOwner()) && operand.getOperandNumber() == 0;
}

SpaceSolver::SpaceSolver(ArrayRef<Operation *> ops, int64_t rows, int64_t columns)
    : ops(ops), members(ops.begin(), ops.end()) {
  space.rowCount = rows;
  space.columnCount = columns;
}

std::optional<IterationSpace> SpaceSolver::solve() {
  seed();
  do
    if (!propagateAll())
      return std::nullopt;
  while (guess());
  placed = failureReason.empty();
  if (!placed || !check())
    return std::nullopt;
  measureDepths();
  return std::move(space);
}

//===-- Placements ----------------------------------------------------------------------------===//

Placement SpaceSolver::make(RowMap rows, bool columns) const {
  bool along = columns && space.columnCount > 1;
  bool all = rows.rows() == space.rowCount;
  Extent extent = Extent::PartialRows;
  if (all)
    extent = along || space.columnCount == 1 ? Extent::Full : Extent::PerRow;
  else if (rows.terms.empty())
    extent = along ? Extent::PerColumn : Extent::Scalar;
  return {extent, along, std::move(rows)};
}

Placement SpaceSolver::everyRow(bool columns) const {
  RowMap rows;
  rows.append({1, space.rowCount});
  return make(rows, columns);
}

std::optional<size_t> SpaceSolver::rowRank(ArrayRef<int64_t> shape, bool columns) const {
  size_t rank = shape.size();
  int64_t count = 1;
  if (!columns)
    return rank;
  while (count < space.columnCount && rank > 0)
    count *= shape[--rank];
  if (count != space.columnCount)
    return std::nullopt;
  return rank;
}

const Placement *SpaceSolver::known(Value value) const {
  auto found = space.placements.find(value);
  return found == space.placements.end() ? nullptr : &found->second;
}

void SpaceSolver::set(Value value, Placement placement) {
  auto [entry, added] = space.placements.try_emplace(value, placement);
  changed |= added;
  if (!added && entry->second != placement && failureReason.empty())
    failureReason = "a value would have to vary over rows and columns in two ways";
}

void SpaceSolver::fail(Operation *op, StringRef what) {
  if (failureReason.empty())
    failureReason = (op->getName().getStringRef() + ": " + what).str();
}

//===-- Propagation ---------------------------------------------------------------------------===//

void SpaceSolver::seed() {
  auto seedValue = [&](Value value) {
    if (countOf(value) == space.rowCount * space.columnCount)
      set(value, everyRow(true));
  };
  for (Operation *op : ops) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (isTable(operand))
        set(operand.get(), {Extent::Table, true, {}});
      else
        seedValue(operand.get());
    }
    llvm::for_each(op->getResults(), seedValue);
  }
}

bool SpaceSolver::propagateAll() {
  do {
    changed = false;
    for (Operation *op : ops)
      if (!propagate(op) || !failureReason.empty())
        return false;
  } while (changed);
  return true;
}

bool SpaceSolver::propagate(Operation *op) {
  if (isa<nn::BroadcastOp>(op))
    return propagateBroadcast(op);
  if (isa<nn::ReduceOp>(op))
    return propagateReduce(op);
  if (isa<nn::GatherOp>(op))
    return propagateGather(op);
  return propagateElementwise(op);
}

bool SpaceSolver::propagateElementwise(Operation *op) {
  int64_t count = countOf(op->getResult(0));
  SmallVector<Value> equal{op->getResult(0)};
  for (Value operand : op->getOperands()) {
    if (countOf(operand) == count)
      equal.push_back(operand);
    else if (countOf(operand) == 1) // scalars that key an op, such as a seed
      set(operand, make({}, false));
    else
      return fail(op, "operand and result differ in their number of elements"), false;
  }
  for (Value value : equal)
    if (const Placement *placement = known(value)) {
      Placement copy = *placement;
      for (Value other : equal)
        set(other, copy);
      break;
    }
  return true;
}

bool SpaceSolver::propagateBroadcast(Operation *op) {
  Value source = op->getOperand(0);
  const Placement *result = known(op->getResult(0));
  if (countOf(source) == 1)
    return set(source, make({}, false)), true;
  if (!result)
    return true;
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0)), from = shapeOf(source);
  std::optional<size_t> rank = rowRank(shape, result->columns);
  auto terms = rank ? result->rows.split(shape.take_front(*rank)) : std::nullopt;
  if (!terms)
    return fail(op, "the dimensions do not divide into rows and columns"), false;
  auto sourceSize = [&](size_t dim) {
    size_t missing = shape.size() - from.size();
    return dim < missing ? 1 : from[dim - missing];
  };
  RowMap rows;
  for (size_t dim = 0; dim < *rank; ++dim)
    if (sourceSize(dim) == shape[dim])
      rows.append((*terms)[dim]);
  bool some = false, all = true;
  for (size_t dim = *rank; dim < shape.size(); ++dim) {
    if (shape[dim] == 1)
      continue;
    some |= sourceSize(dim) != 1;
    all &= sourceSize(dim) != 1;
  }
  if (some && !all)
    return fail(op, "repeats only some of the dimensions that make up the columns"), false;
  set(source, make(rows, some));
  return true;
}

void SpaceSolver::reduced(Operation *op, Placement placement) {
  space.reducedOverTiles.insert(op->getResult(0));
  set(op->getResult(0), std::move(placement));
}

bool SpaceSolver::propagateReduce(Operation *op) {
  auto reduce = cast<nn::ReduceOp>(op);
  const Placement *source = known(reduce.getX());
  if (!source)
    return true;
  Placement from = *source;
  ArrayRef<int64_t> shape = shapeOf(reduce.getX());
  std::optional<size_t> rank = rowRank(shape, from.columns);
  if (!rank)
    return fail(op, "the dimensions do not divide into rows and columns"), false;
  SmallVector<bool> over(shape.size(), false);
  for (int64_t dim : reduce.getDims())
    over[dim < 0 ? dim + shape.size() : dim] = true;
  bool allRows = true, noRows = true, allColumns = true, noColumns = true;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] == 1)
      continue;
    (dim < *rank ? (over[dim] ? noRows : allRows) : (over[dim] ? noColumns : allColumns)) = false;
  }
  if (noRows && allColumns) {
    bool cut = from.columns && space.rowCount == 1 && space.columnCount > IterationSpace::kLongRow;
    cut ? reduced(op, make(from.rows, false)) : set(op->getResult(0), make(from.rows, false));
    return true;
  }
  if (from.rows.rows() != space.rowCount || !allRows)
    return fail(op, "reduces only some of the dimensions that make up the rows"), false;
  if (!noColumns && !allColumns)
    return fail(op, "reduces only some of the dimensions that make up the columns"), false;
  if (from.columns && allColumns && space.rowCount > 1)
    return fail(op, "reduces everything, in an order that only a single row of all elements has"), false;
  return reduced(op, make({}, from.columns && noColumns)), true;
}

bool SpaceSolver::propagateGather(Operation *op) {
  auto gather = cast<nn::GatherOp>(op);
  int64_t width = countOf(gather.getResult()) / std::max<int64_t>(countOf(gather.getIds()), 1);
  if (width != 1 && width != space.columnCount)
    return fail(op, "rows of the table are not the columns"), false;
  bool columns = width != 1;
  if (const Placement *result = known(gather.getResult())) {
    RowMap rows = result->rows;
    if (result->columns != (columns && space.columnCount > 1))
      return fail(op, "picks one element per row and column"), false;
    set(gather.getIds(), make(rows, false));
  } else if (const Placement *ids = known(gather.getIds())) {
    RowMap rows = ids->rows;
    set(gather.getResult(), make(rows, columns));
  }
  return true;
}

bool SpaceSolver::guess() {
  for (Operation *op : ops) {
    SmallVector<Value> values(op->getOperands());
    values.append(op->result_begin(), op->result_end());
    for (Value value : values) {
      if (known(value))
        continue;
      int64_t count = countOf(value);
      if (count == space.rowCount)
        set(value, everyRow(false));
      else if (count == space.columnCount)
        set(value, make({}, true));
      else if (count == 1)
        set(value, make({}, false));
      else
        return fail(op, "a value is neither full nor per row, per column or scalar"), false;
      return true;
    }
  }
  return false;
}

//===-- Checks --------------------------------------------------------------------------------===//

bool SpaceSolver::check() {
  for (Operation *op : ops)
    if (!propagate(op) || !failureReason.empty() || !checkUses(op))
      return false;
  return true;
}

bool SpaceSolver::checkUses(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (space.reducedOverTiles.contains(operand.get()))
      return fail(op, "uses a reduction that is complete only after the last row"), false;
    bool table = known(operand.get())->extent == Extent::Table;
    Operation *maker = operand.get().getDefiningOp();
    if (table && (!isTable(operand) || (maker && members.contains(maker))))
      return fail(op, "a gather's table must be an input and nothing else"), false;
  }
  for (Value result : op->getResults()) {
    Extent extent = known(result)->extent;
    bool leaves = llvm::any_of(result.getUsers(), [&](Operation *user) { return !members.contains(user); });
    bool storable = extent != Extent::PerColumn && extent != Extent::PartialRows;
    if (leaves && !storable && !space.reducedOverTiles.contains(result))
      return fail(op, "a result that repeats over rows would be made once per row"), false;
  }
  return true;
}

void SpaceSolver::measureDepths() {
  for (Operation *op : ops) {
    int64_t depth = 0;
    for (Value operand : op->getOperands())
      depth = std::max(depth, space.depths.lookup(operand));
    bool alongColumns = llvm::any_of(op->getOperands(), [&](Value v) { return known(v)->columns; });
    if (alongColumns || known(op->getResult(0))->columns)
      space.passCount = std::max(space.passCount, depth + 1);
    if (isa<nn::ReduceOp>(op) && alongColumns && !known(op->getResult(0))->columns)
      ++depth;
    space.depths[op->getResult(0)] = depth;
  }
}
