#include "lib/Shard/ShardedValues.h"

#include "dialects/Dist/Dist.h"

using namespace mlir;
using namespace trainc;

static int leading(ArrayRef<int> labels) { return labels.empty() ? -1 : labels.front(); }

/// Returns the op's indexing rule; empty if it has none.
static IndexingRule ruleOf(Operation &op) {
  auto indexing = dyn_cast<IndexingOpInterface>(op);
  return indexing ? indexing.getIndexingRule() : IndexingRule();
}

/// Whether `label` occurs at dimension 0 only.
static bool isLeadingOnly(int label, ArrayRef<SmallVector<int>> labels) {
  return llvm::all_of(
      labels, [&](ArrayRef<int> of) { return of.empty() || !llvm::is_contained(of.drop_front(), label); });
}

/// Whether dimension 0 can be split into equal shards.
static bool isEven(Value value, int64_t ranks) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getRank() > 0 && type.getDimSize(0) % ranks == 0;
}

/// Whether `label` is dimension 0 of an operand or result that cannot be split into equal shards.
static bool isUneven(int label, ValueRange values, ArrayRef<SmallVector<int>> labels, int64_t ranks) {
  return llvm::any_of(llvm::zip(values, labels), [&](auto pair) {
    auto [value, of] = pair;
    return leading(of) == label && !isEven(value, ranks);
  });
}

ShardedValues::ShardedValues(ModuleOp module, int64_t ranks, int64_t zeroStage)
    : module(module), ranks(ranks), zeroStage(zeroStage) {
  for (auto state : module.getOps<train::StateOp>()) {
    roles[state.getSymName()] = state.getRole();
    if (dist::isSharded(state))
      shrunk.insert(state.getSymName());
  }
  while (findLocal())
    ;
  while (findSharded())
    ;
}

SmallVector<Value> ShardedValues::operandsWith(Operation &op, int label) {
  SmallVector<Value> operands;
  for (auto [operand, labels] : llvm::zip(op.getOperands(), ruleOf(op).operands))
    if (leading(labels) == label)
      operands.push_back(operand);
  return operands;
}

/// Whether a shard of the result along `label` can be computed from shards of the operands that have this
/// label.
bool ShardedValues::canShard(Operation &op, int label) const {
  IndexingRule rule = ruleOf(op);
  return label != -1 && op.getNumResults() == 1 && isLeadingOnly(label, rule.operands) &&
         isLeadingOnly(label, rule.results) && !isUneven(label, op.getOperands(), rule.operands, ranks) &&
         !isUneven(label, op.getResults(), rule.results, ranks);
}

int ShardedValues::shardLabel(Operation &op) const {
  IndexingRule rule = ruleOf(op);
  const int label = rule.results.empty() ? -1 : leading(rule.results.front());
  return canShard(op, label) ? label : -1;
}

bool ShardedValues::readsSharded(Operation &op, int label) const {
  return llvm::any_of(operandsWith(op, label), [&](Value operand) { return sharded.contains(operand); });
}

bool ShardedValues::readsLocal(Operation &op) const {
  return !isa<train::SumOverRanksOp, train::MaxOverRanksOp>(op) &&
         llvm::any_of(op.getOperands(), [&](Value operand) { return local.contains(operand); });
}

/// Finds values and states that differ between ranks; returns whether a state is new.
bool ShardedValues::findLocal() {
  bool found = false;
  for (auto entry : module.getOps<train::EntryOp>())
    for (Operation &op : entry.getBody().front()) {
      auto get = dyn_cast<train::GetOp>(op);
      if (isa<train::InputOp>(op) || (get && localStates.contains(get.getState())) || readsLocal(op))
        local.insert(op.result_begin(), op.result_end());
      if (auto set = dyn_cast<train::SetOp>(op); set && readsLocal(op))
        found |= localStates.insert(set.getState()).second;
    }
  return found;
}

/// Finds values and states that are sharded; returns whether a state is new, so that its readers must be
/// visited.
bool ShardedValues::findSharded() {
  bool found = false;
  for (auto entry : module.getOps<train::EntryOp>())
    for (Operation &op : entry.getBody().front()) {
      if (givesShards(op))
        sharded.insert(op.result_begin(), op.result_end());
      auto set = dyn_cast<train::SetOp>(op);
      if (!set || localStates.contains(set.getState()))
        continue;
      if (writesWholeGradient(set))
        found |= common.insert(set.getState()).second;
      else if (sharded.contains(set.getValue()) && mayShrink(set.getState()))
        found |= shrunk.insert(set.getState()).second;
    }
  return found;
}

bool ShardedValues::givesShards(Operation &op) const {
  if (auto sum = dyn_cast<train::SumOverRanksOp>(op))
    return isEven(sum.getResult(), ranks) && !isAddedToWholeGradient(op);
  if (auto get = dyn_cast<train::GetOp>(op))
    return shrunk.contains(get.getState()) ||
           (common.contains(get.getState()) && isEven(get.getResult(), ranks));
  const int label = shardLabel(op);
  return label != -1 && !readsLocal(op) && !isWrittenToWholeGradient(op) && readsSharded(op, label);
}

bool ShardedValues::writesWholeGradient(train::SetOp set) const {
  return roles.at(set.getState()) == train::StateRole::gradient && !mayShrink(set.getState());
}

bool ShardedValues::isWrittenToWholeGradient(Operation &op) const {
  return llvm::any_of(op.getUsers(), [&](Operation *user) {
    auto set = dyn_cast<train::SetOp>(user);
    return set && writesWholeGradient(set);
  });
}

/// Whether the op's result is added to an unsharded gradient, directly or after elementwise ops such as a
/// conversion.
bool ShardedValues::isAddedToWholeGradient(Operation &op) const {
  return llvm::any_of(op.getUsers(), [&](Operation *user) {
    const bool follows = isa<ElementwiseOpInterface>(user) && user->getNumOperands() == 1;
    return isWrittenToWholeGradient(*user) || (follows && isAddedToWholeGradient(*user));
  });
}

/// Whether the stage allows sharding of the state. Earlier passes have decided which parameters are sharded.
bool ShardedValues::mayShrink(StringRef state) const {
  const train::StateRole role = roles.at(state);
  return (role == train::StateRole::optimizer && zeroStage >= 1) ||
         (role == train::StateRole::gradient && zeroStage >= 2);
}
