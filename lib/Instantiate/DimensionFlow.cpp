#include "lib/Instantiate/DimensionFlow.h"

#include "dialects/NN/Builders.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace trainc;

SmallVector<Operation *> trainc::opsLeadingTo(ValueRange values) {
  llvm::SetVector<Operation *> ops;
  for (Value value : values)
    ops.insert(value.getDefiningOp());
  for (size_t i = 0; i < ops.size(); ++i) // the loop appends to `ops`
    for (Value operand : ops[i]->getOperands())
      ops.insert(operand.getDefiningOp());
  SmallVector<Operation *> ordered = ops.takeVector();
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

std::optional<size_t> DimensionFlow::dimOf(Value value) const {
  auto found = dims.find(value);
  return found == dims.end() ? std::nullopt : std::optional(found->second);
}

/// Fails if a value has parts along two dimensions, or if the number of parts does not divide the dimension.
LogicalResult DimensionFlow::setDim(Value result, size_t dim) {
  auto [where, isNew] = dims.try_emplace(result, dim);
  return success((isNew || where->second == dim) && nn::shapeOf(result)[dim] % parts == 0);
}

/// Every result must have a dimension with this label.
LogicalResult DimensionFlow::followLabel(Operation *op, const IndexingRule &rule, int label) {
  if (label == -1)
    return failure();
  for (auto [result, labels] : llvm::zip_equal(op->getResults(), rule.results)) {
    const auto *found = llvm::find(labels, label);
    if (found == labels.end() || failed(setDim(result, found - labels.begin())))
      return failure();
  }
  return success();
}

LogicalResult DimensionFlow::followApart(Operation *op) {
  auto indexing = dyn_cast<IndexingOpInterface>(op);
  auto sequential = dyn_cast<IncrementalOpInterface>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    const std::optional<size_t> dim = dimOf(operand.get());
    if (!dim)
      continue;
    const unsigned index = operand.getOperandNumber();
    if (sequential && !sequential.readsElements(index)) {
      if (sequential.getSequenceDims().operands[index] == int(*dim))
        return failure();
      continue;
    }
    if (!indexing)
      return failure();
    const IndexingRule rule = indexing.getIndexingRule();
    if (failed(followLabel(op, rule, rule.operands[index][*dim])))
      return failure();
  }
  return success();
}

bool DimensionFlow::goesAlong(IncrementalOpInterface op) const {
  return !llvm::all_of_zip(op->getOperands(), op.getSequenceDims().operands, [&](Value operand, int dim) {
    return dim == -1 || dimOf(operand) != size_t(dim);
  });
}

LogicalResult DimensionFlow::followAlong(IncrementalOpInterface op) {
  const SequenceDims sequence = op.getSequenceDims();
  for (auto [operand, dim] : llvm::zip_equal(op->getOperands(), sequence.operands)) {
    const std::optional<size_t> wanted = dim == -1 ? std::nullopt : std::optional<size_t>(dim);
    if (dimOf(operand) != wanted || (wanted && nn::shapeOf(operand)[dim] != parts))
      return failure();
  }
  for (auto [result, dim] : llvm::zip_equal(op->getResults(), sequence.results))
    dims[result] = dim;
  return success();
}

Operation *trainc::findCombinedSamples(ValueRange values, int64_t batch) {
  DimensionFlow samples(batch);
  for (Operation *op : opsLeadingTo(values)) {
    if (auto input = dyn_cast<train::InputOp>(op))
      samples.start(input.getResult(), 0);
    else if (failed(samples.followApart(op)))
      return op;
  }
  return nullptr;
}
