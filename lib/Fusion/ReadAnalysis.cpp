#include "lib/Fusion/ReadAnalysis.h"

#include "dialects/NN/NN.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trainc;

bool ReadAnalysis::isPrimitive(Operation *op) { return nn::KernelOp::canHold(op); }

Value ReadAnalysis::stripReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<nn::ReshapeOp>())
    value = reshape.getX();
  return value;
}

bool trainc::restrictColumns(ColumnChoices &choices, ArrayRef<int64_t> others) {
  if (others.empty())
    return true;
  ColumnChoices kept;
  for (int64_t columns : choices.empty() ? others : ArrayRef<int64_t>(choices))
    if (llvm::is_contained(others, columns))
      kept.push_back(columns);
  if (kept.empty())
    return false;
  choices = std::move(kept);
  return true;
}

/// Returns candidates for the number of columns: products of trailing dimensions, including that of all. Rows
/// of one element are excluded.
static ColumnChoices trailingProducts(ArrayRef<int64_t> shape) {
  ColumnChoices products;
  int64_t product = 1;
  for (int64_t size : llvm::reverse(shape))
    if (size > 1)
      products.push_back(product *= size);
  return products;
}

ReadAnalysis::ReadAnalysis(Block &block, unsigned freeOps) : block(block), maxFreeOps(freeOps) {
  for (Operation &op : block)
    findFree(&op);
  // Consumers are visited first, because they decide which views and free values must be computed.
  for (Operation &op : llvm::reverse(block)) {
    bool primitive = isPrimitive(&op);
    if (promoted.contains(&op) || (primitive && !isReadThrough(&op) && !isFree(&op)))
      analyzeComputed(&op);
    else if (!primitive)
      analyzeOther(&op);
  }
}

void ReadAnalysis::findFree(Operation *op) {
  if (!isPrimitive(op) || isa<nn::ReduceOp, nn::GatherOp>(op))
    return;
  unsigned cost = isReadThrough(op) ? 0 : 1;
  int64_t count = countOf(op->getResult(0));
  for (Value operand : op->getOperands()) {
    auto found = freeCosts.find(operand.getDefiningOp());
    if (operand.getDefiningOp() && found != freeCosts.end())
      cost += found->second;
    else if (isReadThrough(op) || count == 1 || countOf(operand) != 1)
      return; // other scalars only key random numbers
  }
  if (cost <= maxFreeOps)
    freeCosts[op] = cost;
}

/// Handles a library op, or an op that accesses states.
void ReadAnalysis::analyzeOther(Operation *op) {
  for (Value operand : op->getOperands())
    promote(operand);
}

/// Marks `value` as computed if it is a view or free value; aliases of plain values and zeros are not marked.
void ReadAnalysis::promote(Value value) {
  Operation *def = stripReshapes(value).getDefiningOp();
  if (def && def->getBlock() == &block && (isReadThrough(def) || isFree(def)) && !isZero(def))
    promoted.insert(def);
}

/// A free value is recomputed, unless it is a small table that is computed from other values.
bool ReadAnalysis::isRepeatable(Operation *op, const nn::RepeatPattern &pattern) const {
  bool source = llvm::none_of(op->getOperands(), [](Value v) { return countOf(v) > 1; });
  return isFree(op) && (source || pattern.isIdentity());
}

/// Adds the reads of `value`, which is repeated by `pattern` over the op's positions. Returns false if its
/// dimensions do not fit the space.
bool ReadAnalysis::collect(Value value, const nn::RepeatPattern &pattern, OpSpace &space) {
  Operation *def = value.getDefiningOp();
  if (def && def->getBlock() == &block && isReadThrough(def)) {
    Value source = def->getOperand(0);
    if (!isa<nn::BroadcastOp>(def))
      return collect(source, pattern, space);
    if (auto composed = pattern.compose(nn::RepeatPattern::broadcast(shapeOf(source), shapeOf(value))))
      return collectRepeated(source, value, pattern, *composed, space);
    promoted.insert(def);
  } else if (def && def->getBlock() == &block && isFree(def)) {
    if (isRepeatable(def, pattern))
      return llvm::all_of(def->getOperands(), [&](Value operand) {
        bool key = countOf(operand) == 1;
        return collect(operand, key ? nn::RepeatPattern::scalar(pattern.count()) : pattern, space);
      });
    promoted.insert(def);
  }
  space.reads.push_back({value, pattern});
  return true;
}

/// `repeated`, an nn.broadcast of `source`, is itself repeated by `outer`. Columns must not exceed the
/// fastest run, and must be dimensions of `repeated` if it varies along them.
bool ReadAnalysis::collectRepeated(Value source, Value repeated, const nn::RepeatPattern &outer,
                                   const nn::RepeatPattern &pattern, OpSpace &space) {
  bool varies = !outer.getRuns().empty() && outer.getRuns().back().kept;
  if (varies && pattern.uniformColumns() != 0) {
    ColumnChoices choices;
    for (int64_t columns : trailingProducts(shapeOf(repeated)))
      if (pattern.uniformColumns() % columns == 0)
        choices.push_back(columns);
    if (choices.empty() || !restrictColumns(space.columns, choices))
      return false;
  }
  return collect(source, pattern, space);
}

/// Adds the reads of `operand`. If they do not fit an iteration space with the other operands, adds the
/// operand itself, which is then computed beforehand.
void ReadAnalysis::addOperand(OpSpace &space, Value operand, const nn::RepeatPattern &pattern) {
  OpSpace extended = space;
  if (collect(operand, pattern, extended)) {
    space = std::move(extended);
    return;
  }
  promote(operand);
  space.reads.push_back({stripReshapes(operand), pattern});
}

/// The reduced dimensions of size above 1 are the trailing, the leading or all dimensions (see Legalize.h).
static void describeReduce(nn::ReduceOp reduce, OpSpace &space) {
  int64_t reduced = countOf(reduce.getX()) / countOf(reduce.getResult());
  space.count = countOf(reduce.getX());
  ArrayRef<int64_t> shape = shapeOf(reduce.getX());
  if (reduced == space.count) {
    space.completion = Completion::Total;
    space.columns = {space.count}; // one row, whose elements have a fixed order
    return;
  }
  int64_t last = shape.size();
  while (shape[last - 1] == 1)
    --last;
  bool trailing = llvm::any_of(reduce.getDims(), [&](int64_t dim) {
    return (dim < 0 ? dim + int64_t(shape.size()) : dim) == last - 1;
  });
  space.columns = {trailing ? reduced : countOf(reduce.getResult())};
  space.alongColumns = true;
  space.completion = trailing ? Completion::Immediate : Completion::AllRows;
}

void ReadAnalysis::analyzeComputed(Operation *op) {
  OpSpace space;
  space.count = countOf(op->getResult(0));
  if (auto reduce = dyn_cast<nn::ReduceOp>(op)) {
    describeReduce(reduce, space);
    addOperand(space, reduce.getX(), nn::RepeatPattern::identity(space.count));
  } else if (auto gather = dyn_cast<nn::GatherOp>(op)) {
    int64_t ids = countOf(gather.getIds());
    int64_t width = space.count / ids;
    space.columns = {width};
    space.alongColumns = true;
    promote(gather.getTable());
    space.reads.push_back({gather.getTable(), {}, true});
    addOperand(space, gather.getIds(), nn::RepeatPattern::identity(ids).repeatedAlongColumns(width));
  } else if (isa<nn::BroadcastOp>(op)) {
    Value source = op->getOperand(0);
    collectRepeated(source, op->getResult(0), nn::RepeatPattern::identity(space.count),
                    nn::RepeatPattern::broadcast(shapeOf(source), shapeOf(op->getResult(0))), space);
  } else {
    for (Value operand : op->getOperands())
      addOperand(space, operand,
                 countOf(operand) == space.count ? nn::RepeatPattern::identity(space.count)
                                                 : nn::RepeatPattern::scalar(space.count));
  }
  spaces[op] = std::move(space);
}
