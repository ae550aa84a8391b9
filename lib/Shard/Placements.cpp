#include "lib/Shard/Placements.h"

#include "dialects/NN/Builders.h"
#include "dialects/NN/NN.h"
#include "lib/Plan/SchemaEnums.h"
#include "plan/facts/collective.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace trainc;

static IndexingRule ruleOf(Operation *op) {
  auto indexing = dyn_cast<IndexingOpInterface>(op);
  return indexing ? indexing.getIndexingRule() : IndexingRule();
}

/// Returns the dimension with the label; -1 if there is none.
static int64_t dimOf(int label, ArrayRef<int> labels) {
  const auto *found = llvm::find(labels, label);
  return found == labels.end() ? -1 : found - labels.begin();
}

bool Placements::isAlong(ArrayAttr axes) const {
  return llvm::is_contained(axes.getAsValueRange<StringAttr>(), axis);
}

/// Whether all elements along the dimension are equal, so that a shard of the value is like any other part.
bool Placements::isUniform(Value value, int64_t dim) const {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (op->hasTrait<OpTrait::ConstantLike>())
    return true;
  const IndexingRule rule = ruleOf(op);
  if (rule.results.size() != 1 || rule.results.front()[dim] == -1)
    return false;
  const int label = rule.results.front()[dim];
  bool isNew = true;
  for (auto [operand, labels] : llvm::zip(op->getOperands(), rule.operands))
    if (const int64_t at = dimOf(label, labels); at >= 0) {
      isNew = false;
      if (!(isa<ElementwiseOpInterface>(op) || isReadThrough(op)) || !isUniform(operand, at))
        return false;
    }
  return !isNew || !isa<ElementwiseOpInterface>(op);
}

LogicalResult Placements::derive() {
  for (auto state : module.getOps<train::StateOp>()) {
    states[state.getSymName()] = state;
    if (const auto declared = dist::placementOf(state))
      stateValues[state.getSymName()] = declared.along(axis);
  }
  while (walk())
    ;
  for (const auto &[op, fault] : faults)
    op->emitOpError() << "along axis `" << axis << "`: " << fault;
  return success(faults.empty());
}

/// Visits all ops; returns whether a state's placement has changed.
bool Placements::walk() {
  changed = false;
  faults.clear();
  for (auto entry : module.getOps<train::EntryOp>())
    for (Operation &op : entry.getBody().front()) {
      auto set = dyn_cast<train::SetOp>(op);
      DerivedPlacement derived = set ? DerivedPlacement{{}, write(set)} : derive(op);
      if (!derived.fault.empty())
        faults.emplace_back(&op, std::move(derived.fault));
      for (OpResult result : op.getResults())
        values[result] = derived.along;
    }
  return changed;
}

DerivedPlacement Placements::derive(Operation &op) {
  if (isa<train::InputOp>(op)) {
    const auto declared = dist::placementOf(&op);
    return {declared ? declared.along(axis) : Along{Along::Own}};
  }
  if (auto get = dyn_cast<train::GetOp>(op))
    return {stateValues.lookup(get.getState())};
  if (auto start = dyn_cast<CollectiveOpInterface>(op))
    return deriveCollective(start);
  if (auto placing = dyn_cast<PlacementOpInterface>(op))
    return placing.derivePlacement(
        axis, llvm::map_to_vector(op.getOperands(), [&](Value operand) { return of(operand); }));
  return deriveByRule(op);
}

DerivedPlacement Placements::deriveCollective(CollectiveOpInterface start) const {
  const Along along = of(start->getOperand(0));
  if (!isAlong(start.getAxesAttr()))
    return {along};
  const CollectiveTraits traits = traitsOf(inSchema(start.getCollectiveKind()));
  const Along result = traits.destinationIsShard ? Along::sharded(0) : Along();
  const bool isSharded = along.kind == Along::Sharded;
  if (traits.sums)
    return {result, isSharded ? "sums a value that is " + along.text() + "; expected terms of one sum" : ""};
  if (traits.sourceIsShard && (along.kind == Along::Partial || (isSharded && along.dim != 0)))
    return {result, "gathers a value that is " + along.text() + "; expected shards of dimension 0"};
  if (!traits.sourceIsShard && (along.kind == Along::Partial || isSharded))
    return {result, "copies a value that is " + along.text() + "; expected a whole one"};
  return {result};
}

/// Returns the values that an op reads, also within its regions.
static SmallVector<Value> operandsOf(Operation &op) {
  SmallVector<Value> operands(op.getOperands());
  if (op.getNumRegions() > 0) {
    llvm::SetVector<Value> inside;
    getUsedValuesDefinedAbove(op.getRegions(), inside);
    llvm::append_range(operands, inside);
  }
  return operands;
}

/// Returns the dimension along which a reshaped shard is sharded: the first with as many elements before it;
/// -1 if there is none. The indexing rule is of no use here, because a dimension of one element may be all
/// that is left of a sharded one.
static int64_t reshapedDim(nn::ReshapeOp reshape, int64_t dim) {
  ArrayRef<int64_t> from = nn::shapeOf(reshape.getX()), to = nn::shapeOf(reshape.getResult());
  const int64_t before = llvm::product_of(from.take_front(dim));
  int64_t elements = 1;
  for (size_t i = 0; i < to.size() && elements <= before; elements *= to[i++])
    if (elements == before)
      return int64_t(i);
  return -1;
}

DerivedPlacement Placements::deriveByRule(Operation &op) {
  bool anyOwn = false, anySharded = false;
  for (Value operand : operandsOf(op)) {
    const Along along = of(operand);
    if (along.kind == Along::Partial)
      return {along, "reads a partial sum; expected its sum over the ranks"};
    anyOwn |= along.kind == Along::Own;
    anySharded |= along.kind == Along::Sharded;
  }
  if (!anySharded)
    return {anyOwn ? Along{Along::Own} : Along()};
  if (anyOwn)
    return {{Along::Own}, "combines a shard with a value that is each rank's own"};
  if (auto reshape = dyn_cast<nn::ReshapeOp>(op)) {
    const Along along = of(reshape.getX());
    const int64_t dim = reshapedDim(reshape, along.dim);
    return dim >= 0 ? DerivedPlacement{Along::sharded(dim)}
                    : DerivedPlacement{{}, "cannot be computed of an operand that is " + along.text()};
  }
  const IndexingRule rule = ruleOf(&op);
  if (rule.operands.size() != op.getNumOperands() || rule.results.size() != 1)
    return {{}, "has no rule by which it could be computed of shards"};
  std::optional<int> label;
  for (auto [operand, labels] : llvm::zip(op.getOperands(), rule.operands))
    if (const Along along = of(operand); along.kind == Along::Sharded) {
      const int own = labels[along.dim];
      if (own == -1 || (label && *label != own))
        return {{}, "cannot be computed of an operand that is " + along.text()};
      label = own;
    }
  for (auto [operand, labels] : llvm::zip(op.getOperands(), rule.operands))
    if (const int64_t dim = dimOf(*label, labels);
        dim >= 0 && of(operand).kind == Along::Replicated && !isUniform(operand, dim))
      return {{}, "combines a shard with a whole dimension " + std::to_string(dim) + " of another operand"};
  const int64_t dim = dimOf(*label, rule.results.front());
  return {dim >= 0 ? Along::sharded(dim) : Along{Along::Partial}};
}

/// Returns what is wrong with the write, or nothing.
std::string Placements::write(train::SetOp set) {
  const Along along = of(set.getValue());
  train::StateOp state = states.lookup(set.getState());
  Along &held = stateValues[set.getState()];
  if (along == held)
    return {};
  const bool isDeclared = bool(dist::placementOf(state));
  const bool mustBeEqual =
      state.getRole() == train::StateRole::parameter || state.getRole() == train::StateRole::optimizer;
  if (held.kind == Along::Sharded && along.kind == Along::Replicated && isUniform(set.getValue(), held.dim))
    return {};
  if (!isDeclared && !mustBeEqual && along.kind != Along::Sharded) {
    if (held.kind == Along::Replicated) {
      held = {Along::Own};
      changed = true;
    }
    return {};
  }
  return "gives @" + set.getState().str() + " a value that is " + along.text() + "; expected one that is " +
         held.text();
}
