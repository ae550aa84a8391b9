#include "lib/Instantiate/PositionFlow.h"

#include "dialects/NN/Builders.h"

using namespace mlir;
using namespace trainc;

namespace {
/// An expansion of a model up to its logits, without dropout.
struct Probe {
  OwningOpRef<train::EntryOp> entry;
  Value logits;
  IRMapping values; ///< maps values of the model's own body

  static FailureOr<Probe> create(Instantiation &shared, int64_t batch, int64_t length);
};

/// Errors for a model that cannot generate.
struct FlowErrors {
  const char *combines, *differs;
};

constexpr FlowErrors kPositions = {
    "positions of a sequence are combined here; in a model that generates text only causal "
    "nn.attention and nn.positions along the sequence may do that",
    "for another sequence length, this computation differs"};
constexpr FlowErrors kSamples = {
    "samples of a batch are combined here, but text is generated for a single sample",
    "for another number of samples, this computation differs"};
} // namespace

FailureOr<Probe> Probe::create(Instantiation &shared, int64_t batch, int64_t length) {
  Probe probe;
  FailureOr<Forward> forward = expandOutsideModule(shared, batch, length, probe.entry);
  if (failed(forward))
    return failure();
  probe.logits = forward->outputs.lookup("logits");
  probe.values = std::move(forward->values);
  return probe;
}

/// Returns the dimensions whose sizes differ between two probes.
static SmallVector<size_t, 1> openDims(Value value, Value other) {
  SmallVector<size_t, 1> dims;
  for (auto [dim, sizes] : llvm::enumerate(llvm::zip(nn::shapeOf(value), nn::shapeOf(other))))
    if (std::get<0>(sizes) != std::get<1>(sizes))
      dims.push_back(dim);
  return dims;
}

/// Whether each open dimension of an operand is one dimension of the results, and no result dimension is a
/// product of open ones. Otherwise the computation depends on the size.
static bool keepsOpenDims(Operation *op, Operation *other) {
  IndexingRule rule;
  if (auto indexing = dyn_cast<IndexingOpInterface>(op))
    rule = indexing.getIndexingRule();
  auto sequential = dyn_cast<IncrementalOpInterface>(op);
  for (auto [index, values] : llvm::enumerate(llvm::zip(op->getOperands(), other->getOperands()))) {
    if (sequential && !sequential.readsElements(index))
      continue;
    for (size_t dim : openDims(std::get<0>(values), std::get<1>(values))) {
      int label = rule.operands.empty() ? -1 : rule.operands[index][dim];
      if (label == -1 ||
          llvm::none_of(rule.results, [&](auto &labels) { return llvm::is_contained(labels, label); }))
        return false;
    }
  }
  return llvm::all_of_zip(op->getResults(), other->getResults(), [](Value result, Value otherResult) {
    return openDims(result, otherResult).size() <= 1;
  });
}

/// Whether the parts are along the open dimension, for any number of parts.
static bool isAlongOpenDim(const DimensionFlow &flow, Operation *op, Operation *other) {
  return llvm::all_of_zip(op->getResults(), other->getResults(), [&](Value result, Value otherResult) {
    const std::optional<size_t> dim = flow.dimOf(result);
    return !dim || openDims(result, otherResult) == SmallVector<size_t, 1>{*dim};
  });
}

/// Whether two ops of two expansions are the same op of the model. Expansions differ only in how shapes are
/// broadcast.
static bool isSameOp(Operation *op, Operation *other) {
  auto haveSameRank = [](Value a, Value b) { return nn::shapeOf(a).size() == nn::shapeOf(b).size(); };
  return op->getName() == other->getName() && op->getNumOperands() == other->getNumOperands() &&
         llvm::all_of_zip(op->getOperands(), other->getOperands(), haveSameRank) &&
         llvm::all_of_zip(op->getResults(), other->getResults(), haveSameRank);
}

/// Follows the ops that the logits depend on, in two probes. Ops may run along the parts only if `goAlong` is
/// given; it then receives which ones do.
static LogicalResult followParts(Probe &probe, Probe &other, DimensionFlow &flow, const FlowErrors &errors,
                                 SmallVectorImpl<bool> *goAlong) {
  for (auto [op, otherOp] : llvm::zip(opsLeadingTo(probe.logits), opsLeadingTo(other.logits))) {
    if (!isSameOp(op, otherOp))
      return op->emitError(errors.differs);
    auto sequential = dyn_cast<IncrementalOpInterface>(op);
    const bool isAlong = goAlong && sequential && flow.goesAlong(sequential);
    if (goAlong && sequential)
      goAlong->push_back(isAlong);
    const bool fits = isAlong ? succeeded(flow.followAlong(sequential))
                              : succeeded(flow.followApart(op)) && keepsOpenDims(op, otherOp);
    if (!fits || !isAlongOpenDim(flow, op, otherOp))
      return op->emitError(errors.combines);
  }
  return success();
}

LogicalResult trainc::checkSampleFlow(Instantiation &shared) {
  // A batch of one sample combines nothing. Probes have two and three samples, because size 1 broadcasts to
  // any size.
  if (shared.binding.microBatch == 1)
    return success();
  const int64_t length = shared.binding.seqLen;
  FailureOr<Probe> two = Probe::create(shared, 2, length), three = Probe::create(shared, 3, length);
  if (failed(two) || failed(three))
    return failure();
  DimensionFlow samples(2);
  for (Value argument : shared.binding.model.getBody().getArguments())
    samples.start(two->values.lookup(argument), 0);
  return followParts(*two, *three, samples, kSamples, nullptr);
}

/// Returns the flow that starts at the sequence dimensions of the model's columns.
static DimensionFlow startAtColumns(const Probe &probe, nn::ModelOp model, int64_t length) {
  DimensionFlow positions(length);
  for (auto [argument, type] :
       llvm::zip(model.getBody().getArguments(), model.getArgumentTypes().getAsValueRange<TypeAttr>())) {
    auto tensor = cast<RankedTensorType>(type);
    for (int64_t dim = 1; dim < tensor.getRank(); ++dim)
      if (tensor.isDynamicDim(dim))
        positions.start(probe.values.lookup(argument), dim);
  }
  return positions;
}

FailureOr<PositionFlow> trainc::checkPositionFlow(Instantiation &shared) {
  int64_t length = shared.binding.seqLen;
  PositionFlow flow;
  if (length == 1)
    return flow;
  // The second length is not 1 if possible, because size 1 broadcasts.
  FailureOr<Probe> probe = Probe::create(shared, 1, length),
                   other = Probe::create(shared, 1, length == 2 ? 1 : 2);
  if (failed(probe) || failed(other))
    return failure();
  DimensionFlow positions = startAtColumns(*probe, shared.binding.model, length);
  if (failed(followParts(*probe, *other, positions, kPositions, &flow.alongSequence)))
    return failure();
  for (auto [value, concrete] : probe->values.getValueMap())
    flow.dims[value] = openDims(concrete, other->values.lookup(value));
  return flow;
}
