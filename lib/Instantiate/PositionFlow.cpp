#include "lib/Instantiate/PositionFlow.h"

#include "dialects/NN/Builders.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace trainc;

SmallVector<Operation *> trainc::opsLeadingTo(Value value) {
  llvm::SetVector<Operation *> ops;
  ops.insert(value.getDefiningOp());
  for (size_t i = 0; i < ops.size(); ++i) // grows meanwhile
    for (Value operand : ops[i]->getOperands())
      ops.insert(operand.getDefiningOp());
  SmallVector<Operation *> ordered = ops.takeVector();
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

namespace {
/// A model's logits for one sample, without dropout.
struct Probe {
  OwningOpRef<train::EntryOp> entry;
  Value logits;
  IRMapping values; ///< of the model's own body

  static FailureOr<Probe> create(Instantiation &shared, int64_t length);
};
} // namespace

FailureOr<Probe> Probe::create(Instantiation &shared, int64_t length) {
  nn::ModelOp model = shared.binding.model;
  OpBuilder builder(model.getContext());
  Probe probe{train::EntryOp::create(builder, model.getLoc(), "probe"), {}, {}};
  builder.setInsertionPointToEnd(&probe.entry->getBody().emplaceBlock());
  auto inputs = createInputs(builder, model, train::Extent::micro, /*batch=*/1, length);
  EntryScope scope(builder, shared.states, shared.parameters, /*training=*/false);
  FailureOr<Forward> forward = buildForward(model, builder, scope, inputs);
  if (failed(forward))
    return failure();
  probe.logits = forward->outputs.lookup("logits");
  probe.values = std::move(forward->values);
  return probe;
}

/// The dimensions of a value that follow the length: those that differ from the same value's of another
/// length.
static SmallVector<size_t, 1> positionDims(Value value, Value other) {
  SmallVector<size_t, 1> dims;
  for (auto [dim, sizes] : llvm::enumerate(llvm::zip(nn::shapeOf(value), nn::shapeOf(other))))
    if (std::get<0>(sizes) != std::get<1>(sizes))
      dims.push_back(dim);
  return dims;
}

static LogicalResult refuseMixing(Operation *op) {
  return op->emitError(
      "positions of a sequence are combined here; in a model that generates text only causal "
      "nn.attention and nn.positions may do that");
}

/// Every position goes its own way through an op: each position dimension of an operand is one of the
/// results'.
static LogicalResult checkOp(Operation *op, Operation *other) {
  IndexingRule rule;
  if (auto indexing = dyn_cast<IndexingOpInterface>(op))
    rule = indexing.getIndexingRule();
  for (auto [index, values] : llvm::enumerate(llvm::zip(op->getOperands(), other->getOperands())))
    for (size_t dim : positionDims(std::get<0>(values), std::get<1>(values))) {
      int label = rule.operands.empty() ? -1 : rule.operands[index][dim];
      if (label == -1 ||
          llvm::none_of(rule.results, [&](auto &labels) { return llvm::is_contained(labels, label); }))
        return refuseMixing(op);
    }
  for (auto [result, otherResult] : llvm::zip(op->getResults(), other->getResults()))
    if (positionDims(result, otherResult).size() > 1) // a pair of positions each
      return refuseMixing(op);
  return success();
}

/// Two expansions of one model have the same ops, unless shapes were broadcast in different ways.
static bool isSameOp(Operation *op, Operation *other) {
  auto haveSameRank = [](Value a, Value b) { return nn::shapeOf(a).size() == nn::shapeOf(b).size(); };
  return op->getName() == other->getName() && op->getNumOperands() == other->getNumOperands() &&
         llvm::all_of_zip(op->getOperands(), other->getOperands(), haveSameRank) &&
         llvm::all_of_zip(op->getResults(), other->getResults(), haveSameRank);
}

FailureOr<PositionDims> trainc::checkPositionFlow(Instantiation &shared) {
  int64_t length = shared.binding.seqLen;
  if (length == 1)
    return PositionDims();
  // 1 stands for any size in a broadcast, so that two positions tell more than one.
  FailureOr<Probe> probe = Probe::create(shared, length), other = Probe::create(shared, length == 2 ? 1 : 2);
  if (failed(probe) || failed(other))
    return failure();
  SmallVector<Operation *> ops = opsLeadingTo(probe->logits), others = opsLeadingTo(other->logits);
  for (auto [op, otherOp] : llvm::zip(ops, others)) {
    if (!isSameOp(op, otherOp))
      return op->emitError("for another length of the sequence something else is computed here");
    if (!isa<IncrementalOpInterface>(op) && failed(checkOp(op, otherOp)))
      return failure();
  }
  PositionDims dims;
  for (auto [value, concrete] : probe->values.getValueMap())
    dims[value] = positionDims(concrete, other->values.lookup(value));
  return dims;
}
