#include "lib/Fusion/ReadAnalysis.h"

#include "dialects/NN/NN.h"
#include "lib/Analysis/IterationSpace.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trainc;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }
static int64_t countOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

/// Ops in the tree of a free value; larger ones are kept in memory.
static constexpr unsigned kMaxFreeCost = 16;

bool ReadAnalysis::isPrimitive(Operation *op) { return IterationSpace::isPrimitive(op); }
bool ReadAnalysis::isView(Operation *op) { return isa<nn::BroadcastOp, nn::ReshapeOp>(op); }

bool ReadAnalysis::isZero(Operation *op) {
  auto constant = dyn_cast<nn::ConstantOp>(op);
  return constant && constant.getValue().isZero() && !constant.getValue().isNegative();
}

Value ReadAnalysis::stripReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<nn::ReshapeOp>())
    value = reshape.getX();
  return value;
}

bool trainc::joinColumns(int64_t &columns, bool &exact, int64_t otherColumns, bool otherExact) {
  if (otherColumns == 0)
    return true;
  if (columns == 0) {
    columns = otherColumns;
    exact = otherExact;
    return true;
  }
  if (exact && otherExact)
    return columns == otherColumns;
  int64_t least = std::min(columns, otherColumns), most = std::max(columns, otherColumns);
  if ((exact && columns != least) || (otherExact && otherColumns != least) || most % least != 0)
    return false;
  columns = least;
  exact |= otherExact;
  return true;
}

ReadAnalysis::ReadAnalysis(Block &block) : block(block) {
  for (Operation &op : block)
    findFree(&op);
  // Consumers first: they decide which views and free values must be computed.
  for (Operation &op : llvm::reverse(block)) {
    bool primitive = isPrimitive(&op);
    if (promoted.contains(&op) || (primitive && !isView(&op) && !isFree(&op)))
      analyzeComputed(&op);
    else if (!primitive)
      analyzeOther(&op);
  }
}

void ReadAnalysis::findFree(Operation *op) {
  if (!isPrimitive(op) || isa<nn::ReduceOp, nn::GatherOp>(op))
    return;
  unsigned cost = isView(op) ? 0 : 1;
  int64_t count = countOf(op->getResult(0));
  for (Value operand : op->getOperands()) {
    auto found = freeCosts.find(operand.getDefiningOp());
    if (operand.getDefiningOp() && found != freeCosts.end())
      cost += found->second;
    else if (isView(op) || count == 1 || countOf(operand) != 1)
      return; // scalars from elsewhere only key random numbers
  }
  if (cost <= kMaxFreeCost)
    freeCosts[op] = cost;
}

/// A library op, or one that reads or writes states.
void ReadAnalysis::analyzeOther(Operation *op) {
  for (Value operand : op->getOperands())
    promote(operand);
}

/// Has `value` computed, where it is not a plain value (or an alias of one, or zeros).
void ReadAnalysis::promote(Value value) {
  Operation *def = stripReshapes(value).getDefiningOp();
  if (def && def->getBlock() == &block && (isView(def) || isFree(def)) && !isZero(def))
    promoted.insert(def);
}

/// Free values are made again unless they are small tables with work behind them.
bool ReadAnalysis::isRepeatable(Operation *op, const RepeatPattern &pattern) const {
  bool source = llvm::none_of(op->getOperands(), [](Value v) { return countOf(v) > 1; });
  return isFree(op) && (source || pattern.isIdentity());
}

void ReadAnalysis::collect(Value value, const RepeatPattern &pattern, SmallVectorImpl<Read> &reads) {
  Operation *def = value.getDefiningOp();
  if (def && def->getBlock() == &block && isView(def)) {
    Value source = def->getOperand(0);
    bool repeats = isa<nn::BroadcastOp>(def);
    auto composed =
        repeats ? pattern.compose(RepeatPattern::broadcast(shapeOf(source), shapeOf(value))) : pattern;
    if (composed)
      return collect(source, *composed, reads);
    promoted.insert(def);
  } else if (def && def->getBlock() == &block && isFree(def)) {
    if (isRepeatable(def, pattern)) {
      reads.push_back({{}, pattern});
      for (Value operand : def->getOperands()) {
        bool key = countOf(operand) == 1;
        int64_t positions = 1;
        for (RepeatPattern::Run run : pattern.getRuns())
          positions *= run.size;
        collect(operand, key ? RepeatPattern::scalar(positions) : pattern, reads);
      }
      return;
    }
    promoted.insert(def);
  }
  reads.push_back({value, pattern});
}

/// Adds what `operand` reads, or, where that fits no iteration space together with the other operands, the
/// operand itself, computed beforehand.
void ReadAnalysis::addOperand(OpSpace &space, Value operand, const RepeatPattern &pattern) {
  SmallVector<Read> reads;
  collect(operand, pattern, reads);
  int64_t columns = space.columns;
  bool exact = space.exact, fits = true;
  for (const Read &read : reads)
    fits &= joinColumns(columns, exact, read.pattern.uniformColumns(), false);
  if (!fits) {
    promote(operand);
    space.reads.push_back({stripReshapes(operand), pattern});
    return;
  }
  space.columns = columns;
  space.exact = exact;
  space.reads.append(reads.begin(), reads.end());
}

/// The reduced dimensions of size above 1 are the trailing, the leading or all ones (see Legalize.h).
static void describeReduce(nn::ReduceOp reduce, OpSpace &space) {
  int64_t reduced = countOf(reduce.getX()) / countOf(reduce.getResult());
  space.count = countOf(reduce.getX());
  if (reduced == space.count) {
    space.completion = Completion::Total;
    return;
  }
  ArrayRef<int64_t> shape = shapeOf(reduce.getX());
  int64_t last = shape.size();
  while (shape[last - 1] == 1)
    --last;
  bool trailing = llvm::any_of(reduce.getDims(), [&](int64_t dim) {
    return (dim < 0 ? dim + int64_t(shape.size()) : dim) == last - 1;
  });
  space.columns = trailing ? reduced : countOf(reduce.getResult());
  space.exact = true;
  space.completion = trailing ? Completion::Immediate : Completion::AllRows;
}

void ReadAnalysis::analyzeComputed(Operation *op) {
  OpSpace space;
  space.count = countOf(op->getResult(0));
  if (auto reduce = dyn_cast<nn::ReduceOp>(op)) {
    describeReduce(reduce, space);
    addOperand(space, reduce.getX(), RepeatPattern::identity(space.count));
  } else if (auto gather = dyn_cast<nn::GatherOp>(op)) {
    int64_t ids = countOf(gather.getIds());
    space.columns = space.count / ids;
    space.exact = true;
    promote(gather.getTable());
    space.reads.push_back({gather.getTable(), {}, true});
    addOperand(space, gather.getIds(), RepeatPattern::identity(ids).repeatedAlongColumns(space.columns));
  } else if (isa<nn::BroadcastOp>(op)) {
    addOperand(space, op->getOperand(0),
               RepeatPattern::broadcast(shapeOf(op->getOperand(0)), shapeOf(op->getResult(0))));
  } else {
    for (Value operand : op->getOperands())
      addOperand(space, operand,
                 countOf(operand) == space.count ? RepeatPattern::identity(space.count)
                                                 : RepeatPattern::scalar(space.count));
  }
  spaces[op] = std::move(space);
}
