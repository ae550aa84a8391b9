#include "lib/Step/RowRegion.h"

#include "dialects/NN/Builders.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace trainc;

RowRegion::RowRegion(Value seed)
    : seedType(nn::tensorType(seed)), seed(seed), block(seed.getParentBlock()),
      rowCount(seedType.getRank() == 0 ? 1 : seedType.getNumElements() / seedType.getShape().back()) {}

bool RowRegion::hasRowShape(Value value) const {
  ArrayRef<int64_t> rows = seedType.getShape().drop_back();
  return nn::tensorType(value).getShape().take_front(rows.size()) == rows;
}

bool RowRegion::isLarge(Value value) const {
  return nn::tensorType(value).getNumElements() == seedType.getNumElements() && hasRowShape(value);
}

bool RowRegion::grow() {
  if (seedType.getRank() < 2 || !seed.getDefiningOp() || !addConnected(seed.getDefiningOp()))
    return false;
  size_t before;
  do {
    before = set.size();
    if (!closeWays())
      return false;
  } while (set.size() != before);
  for (Operation &op : *block)
    if (set.contains(&op))
      members.push_back(&op);
  return llvm::all_of(members, [&](Operation *op) { return label(op); });
}

/// Adds producers and users of the op's large values to `work`. Returns false if one of them cannot be split.
bool RowRegion::addNeighbours(Operation *op, SmallVectorImpl<Operation *> &work) {
  for (Value operand : op->getOperands())
    if (isLarge(operand)) {
      if (!operand.getDefiningOp())
        return false;
      work.push_back(operand.getDefiningOp());
    }
  for (Value result : op->getResults())
    if (isLarge(result))
      llvm::append_range(work, result.getUsers());
  return true;
}

bool RowRegion::addConnected(Operation *op) {
  SmallVector<Operation *> work{op};
  while (!work.empty()) {
    Operation *next = work.pop_back_val();
    if (set.contains(next))
      continue;
    if (!isa<IndexingOpInterface>(next) || !isPure(next) || next->getBlock() != block)
      return false;
    set.insert(next);
    if (!addNeighbours(next, work))
      return false;
  }
  return true;
}

/// Adds the ops on paths between ops of the set.
bool RowRegion::closeWays() {
  DenseSet<Operation *> after, before;
  for (Operation &op : *block)
    if (llvm::any_of(op.getOperands(), [&](Value v) {
          Operation *def = v.getDefiningOp();
          return def && (set.contains(def) || after.contains(def));
        }))
      after.insert(&op);
  SmallVector<Operation *> between;
  for (Operation &op : llvm::reverse(*block)) {
    if (!llvm::any_of(op.getUsers(),
                      [&](Operation *user) { return set.contains(user) || before.contains(user); }))
      continue;
    before.insert(&op);
    if (after.contains(&op) && !set.contains(&op))
      between.push_back(&op);
  }
  return llvm::all_of(between, [&](Operation *op) { return addConnected(op); });
}

/// Returns the labels of the row dimensions that change. Dimensions of size 1 are the same in slices, except
/// the last.
SmallVector<int> RowRegion::cutLabels(ArrayRef<int> labels) const {
  SmallVector<int> cut;
  for (size_t dim = 0; dim < rowRank(); ++dim)
    if (seedType.getDimSize(dim) != 1 || dim + 1 == rowRank())
      cut.push_back(labels[dim]);
  return cut;
}

/// Determines which values of an op carry the rows. Returns false if the op needs rows outside its slice, or
/// the complete sum over rows.
bool RowRegion::label(Operation *op) {
  IndexingRule rule = cast<IndexingOpInterface>(op).getIndexingRule();
  SmallVector<std::pair<Value, ArrayRef<int>>> values;
  for (auto [value, labels] : llvm::zip(op->getOperands(), rule.operands))
    values.push_back({value, labels});
  for (auto [value, labels] : llvm::zip(op->getResults(), rule.results))
    values.push_back({value, labels});
  auto known = llvm::find_if(
      values, [&](auto &entry) { return isLarge(entry.first) || carrying.contains(entry.first); });
  if (known == values.end())
    return false;
  SmallVector<int> rowLabels = cutLabels(known->second);
  if (llvm::is_contained(rowLabels, -1))
    return false;
  bool summed = false;
  for (auto [index, entry] : llvm::enumerate(values)) {
    auto [value, labels] = entry;
    bool isOperand = index < op->getNumOperands();
    bool some = llvm::any_of(labels, [&](int label) { return llvm::is_contained(rowLabels, label); });
    bool all = hasRowShape(value) && cutLabels(labels) == rowLabels;
    if (some != all || (isOperand && partial.contains(value)))
      return false;
    if (isOperand && set.contains(value.getDefiningOp()) && some != carrying.contains(value))
      return false;
    summed |= isOperand && some;
    if (some)
      carrying.insert(value);
    else if (!isOperand && summed)
      partial.insert(value);
  }
  return true;
}
