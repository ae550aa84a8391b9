#include "lib/Fusion/KernelBuilder.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace trainc;

/// Clones `op` with other operands; the result types are kept.
static Operation *copyWith(Operation *op, ArrayRef<Value> operands, OpBuilder &builder) {
  IRMapping mapping;
  Operation *copy = builder.clone(*op, mapping);
  copy->setOperands(operands);
  return copy;
}

Value KernelBuilder::find(const InsideMap &map, Value value, const nn::RepeatPattern &pattern) {
  if (auto found = map.find(value); found != map.end())
    for (const Inside &inside : found->second)
      if (inside.pattern == pattern)
        return inside.value;
  return {};
}

Value KernelBuilder::addArgument(Value value, Attribute pattern) {
  operands.push_back(value);
  patterns.push_back(pattern);
  return body->addArgument(value.getType(), value.getLoc());
}

/// Returns the block argument for a value from outside the kernel.
Value KernelBuilder::input(Value value, const nn::RepeatPattern &pattern) {
  if (Value known = find(inputs, value, pattern))
    return known;
  Value argument = addArgument(value, nn::RepeatPatternAttr::get(value.getContext(), pattern));
  inputs[value].push_back({pattern, argument});
  return argument;
}

/// Returns the block argument for a table, which has no pattern.
Value KernelBuilder::table(Value value) {
  Value &argument = tables[value];
  if (!argument)
    argument = addArgument(value, UnitAttr::get(value.getContext()));
  return argument;
}

/// Builds a view or free value inside the kernel, walking operands as ReadAnalysis does.
Value KernelBuilder::copyView(Value value, const nn::RepeatPattern &pattern, const OpSpace &space,
                              OpBuilder &builder) {
  if (Value known = find(views, value, pattern))
    return known;
  Operation *def = value.getDefiningOp();
  assert(def && "a value that an op does not read must be made by a view");
  SmallVector<Value> inner;
  for (Value operand : def->getOperands()) {
    nn::RepeatPattern from = pattern;
    if (isa<nn::BroadcastOp>(def))
      from = *pattern.compose(nn::RepeatPattern::broadcast(shapeOf(operand), shapeOf(value)));
    else if (!isReadThrough(def) && countOf(operand) == 1)
      from = nn::RepeatPattern::scalar(count);
    inner.push_back(valueInside(operand, from, space, builder));
  }
  Operation *copy = copyWith(def, inner, builder);
  nn::KernelOp::setPattern(copy, pattern);
  views[value].push_back({pattern, copy->getResult(0)});
  return copy->getResult(0);
}

/// `pattern` covers all rows x columns of the kernel.
Value KernelBuilder::valueInside(Value value, const nn::RepeatPattern &pattern, const OpSpace &space,
                                 OpBuilder &builder) {
  if (Value member = made.lookup(value))
    return member;
  int64_t columns = count / space.count;
  for (const Read &read : space.reads)
    if (read.value == value && !read.table && read.pattern.repeatedAlongColumns(columns) == pattern)
      return input(value, pattern);
  return copyView(value, pattern, space, builder);
}

/// Returns the pattern of the result over the op's own positions.
static nn::RepeatPattern resultPattern(Operation *op, const OpSpace &space) {
  const int64_t count = countOf(op->getResult(0));
  if (space.completion != Completion::AllRows)
    return nn::RepeatPattern::identity(count).repeatedAlongColumns(space.count / count);
  nn::RepeatPattern pattern = nn::RepeatPattern::scalar(space.count / count);
  pattern.append({count, true});
  return pattern;
}

void KernelBuilder::copyMember(Operation *op, OpBuilder &builder) {
  const OpSpace &space = analysis.space(op);
  int64_t columns = count / space.count;
  SmallVector<Value> inner;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    bool gather = isa<nn::GatherOp>(op);
    if (gather && operand.getOperandNumber() == 0) {
      inner.push_back(table(value));
      continue;
    }
    nn::RepeatPattern pattern = nn::RepeatPattern::identity(countOf(value));
    if (gather)
      pattern = pattern.repeatedAlongColumns(space.count / countOf(value));
    else if (isa<nn::BroadcastOp>(op))
      pattern = nn::RepeatPattern::broadcast(shapeOf(value), shapeOf(op->getResult(0)));
    else if (countOf(value) == 1)
      pattern = nn::RepeatPattern::scalar(space.count);
    inner.push_back(valueInside(value, pattern.repeatedAlongColumns(columns), space, builder));
  }
  Operation *copy = copyWith(op, inner, builder);
  nn::KernelOp::setPattern(copy, resultPattern(op, space).repeatedAlongColumns(columns));
  made[op->getResult(0)] = copy->getResult(0);
}

nn::KernelOp KernelBuilder::build(ArrayRef<Operation *> members) {
  auto [rows, columns] = graph.rowsAndColumns(members.front());
  count = rows * columns;
  made.clear();
  inputs.clear();
  tables.clear();
  views.clear();
  operands.clear();
  patterns.clear();
  body = new Block();
  OpBuilder builder(members.front()->getContext());
  builder.setInsertionPointToEnd(body);
  SmallVector<Value> outputs;
  SmallVector<Type> types;
  SmallVector<Location> locations;
  for (Operation *op : members) {
    copyMember(op, builder);
    locations.push_back(op->getLoc());
    if (!graph.isOutput(op))
      continue;
    outputs.push_back(made.lookup(op->getResult(0)));
    types.push_back(op->getResult(0).getType());
  }
  Location loc = FusedLoc::get(members.front()->getContext(), locations);
  nn::YieldOp::create(builder, loc, outputs);
  builder.setInsertionPoint(graph.insertionPoint(members));
  auto kernel =
      nn::KernelOp::create(builder, loc, types, operands, rows, columns, builder.getArrayAttr(patterns));
  kernel.getBody().push_back(body);
  return kernel;
}
