// Patterns of a kernel's values, and its passes.
#include "lib/Codegen/RowFacts.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

RowFacts::RowFacts(nn::KernelOp kernel)
    : kernel(kernel), rows(kernel.getRows()), columns(kernel.getColumns()) {
  Block &block = kernel.getBody().front();
  for (BlockArgument argument : block.getArguments())
    if (!isTable(argument))
      facts[argument] = describe(argument);
  for (Operation &op : block.without_terminator())
    facts[op.getResult(0)] = describe(op.getResult(0));
  measureDepths();
}

RowFacts::ValueFacts RowFacts::describe(Value value) const {
  const nn::RepeatPattern pattern = kernel.patternOf(value);
  const nn::RepeatPattern::Parts parts = *pattern.split(columns);
  ValueFacts found{pattern, columns > 1 && !parts.columns.isScalar(), parts.rows.isIdentity(), {}};
  int64_t divisor = rows;
  for (auto [size, kept] : parts.rows.getRuns()) {
    divisor /= size;
    if (kept)
      found.terms.push_back({divisor, size});
  }
  return found;
}

void RowFacts::measureDepths() {
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    auto isAlong = [&](Value value) { return isAlongColumns(value); };
    Value result = op.getResult(0);
    int64_t depth = 0;
    for (Value operand : op.getOperands())
      if (!isTable(operand))
        depth = std::max(depth, this->depth(operand));
    const bool alongColumns = llvm::any_of(op.getOperands(), isAlong);
    if (alongColumns || isAlong(result))
      passCount = std::max(passCount, depth + 1);
    facts[result].depth = depth + (isa<nn::ReduceOp>(op) && alongColumns && !isAlong(result));
  }
}

// --- Values ---

const RowFacts::ValueFacts &RowFacts::of(Value value) const {
  auto found = facts.find(value);
  assert(found != facts.end() && "a value of another kernel, or a table");
  return found->second;
}

bool RowFacts::isAlongColumns(Value value) const { return !isTable(value) && of(value).alongColumns; }

bool RowFacts::isScalar(Value value) const {
  return !hasEveryRow(value) && rowTerms(value).empty() && !isAlongColumns(value);
}

nn::YieldOp RowFacts::yield() const { return cast<nn::YieldOp>(kernel.getBody().front().getTerminator()); }

Value RowFacts::strip(Value value) const {
  while (Operation *op = value.getDefiningOp()) {
    bool same = isa<nn::ReshapeOp, nn::BroadcastOp>(op) ||
                (isa<nn::ReduceOp>(op) && pattern(op->getOperand(0)) == pattern(value));
    if (!same)
      break;
    value = op->getOperand(0);
  }
  return value;
}

bool RowFacts::isReducedOverRows(Value value) const {
  auto reduce = value.getDefiningOp<nn::ReduceOp>();
  return reduce && hasEveryRow(reduce.getX()) && !hasEveryRow(value);
}

// --- Passes ---

SmallVector<nn::ReduceOp> RowFacts::rowReductions(int64_t pass) const {
  SmallVector<nn::ReduceOp> found;
  for (auto reduce : kernel.getBody().getOps<nn::ReduceOp>())
    if (isAlongColumns(reduce.getX()) && !isAlongColumns(reduce) && depth(reduce.getX()) == pass)
      found.push_back(reduce);
  return found;
}

SmallVector<Value> RowFacts::results(int64_t pass) const {
  SmallVector<Value> values;
  for (Value value : yield().getValues())
    if (isAlongColumns(value) && !isReducedOverRows(value) && depth(value) == pass)
      values.push_back(value);
  return values;
}

SmallVector<Value> RowFacts::reduced(int64_t pass) const {
  SmallVector<Value> values;
  for (nn::ReduceOp reduce : rowReductions(pass))
    values.push_back(reduce.getX());
  for (Value value : yield().getValues())
    if (isReducedOverRows(value) && isAlongColumns(value) && depth(value) == pass)
      values.push_back(value.getDefiningOp<nn::ReduceOp>().getX());
  return values;
}

void RowFacts::visit(ArrayRef<Value> roots, llvm::function_ref<bool(Value)> enter) const {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> left = llvm::to_vector(llvm::reverse(roots));
  while (!left.empty()) {
    Value value = strip(left.pop_back_val());
    if (!isAlongColumns(value) || !seen.insert(value).second || !enter(value))
      continue;
    if (Operation *op = value.getDefiningOp(); op && !isa<nn::GatherOp>(op))
      llvm::append_range(left, llvm::reverse(op->getOperands()));
  }
}
