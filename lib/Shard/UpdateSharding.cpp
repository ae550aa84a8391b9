#include "lib/Shard/UpdateSharding.h"

#include "dialects/Dist/Dist.h"
#include "lib/Shard/Collectives.h"
#include "lib/Support/Retype.h"

using namespace mlir;
using namespace trainc;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static int leading(ArrayRef<int> labels) { return labels.empty() ? -1 : labels.front(); }

/// Whether `label` stands at dimension 0 alone.
static bool isLeadingOnly(int label, ArrayRef<SmallVector<int>> labels) {
  return llvm::all_of(
      labels, [&](ArrayRef<int> of) { return of.empty() || !llvm::is_contained(of.drop_front(), label); });
}

/// Whether `label` leads an operand or result that `ranks` do not divide.
static bool isUneven(int label, ValueRange values, ArrayRef<SmallVector<int>> labels, int64_t ranks) {
  return llvm::any_of(llvm::zip(values, labels), [&](auto pair) {
    auto [value, of] = pair;
    return leading(of) == label && typeOf(value).getDimSize(0) % ranks != 0;
  });
}

/// Whether parts along `label` of the operands that have it are all that parts of the result, or parts of a
/// sum, are computed from.
static bool canDivide(Operation &op, const IndexingRule &rule, int label, int64_t ranks) {
  return label != -1 && op.getNumResults() == 1 && isLeadingOnly(label, rule.operands) &&
         isLeadingOnly(label, rule.results) && !isUneven(label, op.getOperands(), rule.operands, ranks) &&
         !isUneven(label, op.getResults(), rule.results, ranks);
}

static std::optional<IndexingRule> indexingOf(Operation &op) {
  auto indexing = dyn_cast<IndexingOpInterface>(op);
  return indexing ? std::optional(indexing.getIndexingRule()) : std::nullopt;
}

static bool isRead(train::GetOp get, const llvm::StringSet<> &states) {
  return get && states.contains(get.getState());
}

RankedTensorType UpdateSharding::partType(Type whole) const {
  auto type = cast<RankedTensorType>(whole);
  SmallVector<int64_t> shape(type.getShape());
  shape.front() /= ranks;
  return type.clone(shape);
}

void UpdateSharding::run() {
  while (findLocal())
    ;
  while (findDivided())
    ;
  for (auto entry : module.getOps<train::EntryOp>())
    for (Operation &op : llvm::make_early_inc_range(entry.getBody().front()))
      rewrite(op);
  for (auto entry : module.getOps<train::EntryOp>())
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(entry.getBody().front()))) {
      auto get = dyn_cast<train::GetOp>(op);
      if (isOpTriviallyDead(&op))
        op.erase();
      else if (isRead(get, shrunk) && divided.contains(get.getResult()))
        gather(get);
    }
  for (auto state : module.getOps<train::StateOp>())
    if (shrunk.contains(state.getSymName()))
      state.setType(partType(state.getType()));
}

/// What is needed whole of a state that holds a part.
void UpdateSharding::gather(train::GetOp get) {
  OpBuilder builder(get);
  Type whole = get.getResult().getType();
  Value part = train::GetOp::create(builder, get.getLoc(), partType(whole), get.getStateAttr());
  Value pending = dist::AllGatherStartOp::create(builder, get.getLoc(), whole, part);
  get.getResult().replaceAllUsesWith(dist::WaitOp::create(builder, get.getLoc(), pending));
  get.erase();
}

//===-- What is divided
//-----------------------------------------------------------------------------------===//

/// What depends on a rank's own samples, up to the sums over ranks. Whether this found another state that
/// does.
bool UpdateSharding::findLocal() {
  bool found = false;
  for (auto entry : module.getOps<train::EntryOp>())
    for (Operation &op : entry.getBody().front()) {
      if (isa<train::InputOp>(op) || isRead(dyn_cast<train::GetOp>(op), localStates) || readsLocal(op))
        local.insert(op.result_begin(), op.result_end());
      if (auto set = dyn_cast<train::SetOp>(op); set && readsLocal(op))
        found |= localStates.insert(set.getState()).second;
    }
  return found;
}

bool UpdateSharding::readsLocal(Operation &op) const {
  return !isa<train::SumOverRanksOp>(op) &&
         llvm::any_of(op.getOperands(), [&](Value operand) { return local.contains(operand); });
}

/// Whether this found another state that shrinks, whose readers are to be followed as well.
bool UpdateSharding::findDivided() {
  bool found = false;
  for (auto entry : module.getOps<train::EntryOp>())
    for (Operation &op : entry.getBody().front()) {
      if (isDivided(op))
        divided.insert(op.result_begin(), op.result_end());
      auto set = dyn_cast<train::SetOp>(op);
      if (set && divided.contains(set.getValue()) && mayShrink(set.getState()))
        found |= shrunk.insert(set.getState()).second;
    }
  return found;
}

bool UpdateSharding::isDivided(Operation &op) const {
  if (auto sum = dyn_cast<train::SumOverRanksOp>(op)) {
    RankedTensorType type = typeOf(sum.getValue());
    return type.getRank() > 0 && type.getDimSize(0) % ranks == 0;
  }
  if (auto get = dyn_cast<train::GetOp>(op))
    return isRead(get, shrunk);
  std::optional<IndexingRule> rule = indexingOf(op);
  const int label = rule ? leading(rule->results.front()) : -1;
  return rule && !readsLocal(op) && canDivide(op, *rule, label, ranks) && readsDivided(op, *rule, label);
}

/// Whether a divided operand has `label`.
bool UpdateSharding::readsDivided(Operation &op, const IndexingRule &rule, int label) const {
  return llvm::any_of(llvm::zip(op.getOperands(), rule.operands), [&](auto pair) {
    auto [operand, labels] = pair;
    return leading(labels) == label && divided.contains(operand);
  });
}

/// The label of divided operands over which the op sums, so that sums over parts add up to its result; -1 if
/// there is none.
int UpdateSharding::summedLabel(Operation &op) const {
  std::optional<IndexingRule> rule = indexingOf(op);
  if (!rule || op.getNumResults() != 1 || readsLocal(op))
    return -1;
  for (const SmallVector<int> &labels : rule->operands) {
    const int label = leading(labels);
    if (canDivide(op, *rule, label, ranks) && readsDivided(op, *rule, label) &&
        !llvm::is_contained(rule->results.front(), label))
      return label;
  }
  return -1;
}

/// What the forward reads must stay whole, and so must what differs between ranks.
bool UpdateSharding::mayShrink(StringRef state) const {
  auto role = cast<train::StateOp>(SymbolTable::lookupSymbolIn(module, state)).getRole();
  return (role == train::Role::optimizer || role == train::Role::gradient) && !localStates.contains(state);
}

//===-- Rewriting
//-----------------------------------------------------------------------------------------===//

void UpdateSharding::rewrite(Operation &op) {
  if (auto set = dyn_cast<train::SetOp>(op))
    return rewriteWrite(set);
  if (int label = summedLabel(op); label != -1)
    rewriteSum(op, label);
}

void UpdateSharding::rewriteWrite(train::SetOp set) {
  if (shrunk.contains(set.getState())) {
    set.getValueMutable().assign(partOf(set.getValue()));
  } else if (divided.contains(set.getValue())) {
    OpBuilder builder(set);
    Value part = partOf(set.getValue());
    Value pending = dist::AllGatherStartOp::create(builder, set.getLoc(), set.getValue().getType(), part);
    set.getValueMutable().assign(dist::WaitOp::create(builder, set.getLoc(), pending));
  }
}

/// Parts for the operands that have `label`.
IRMapping UpdateSharding::partsOf(Operation &op, const IndexingRule &rule, int label) {
  IRMapping mapping;
  for (auto [operand, labels] : llvm::zip(op.getOperands(), rule.operands))
    if (leading(labels) == label)
      mapping.map(operand, partOf(operand));
  return mapping;
}

/// A sum over the divided dimension: of the parts, then over the ranks.
void UpdateSharding::rewriteSum(Operation &op, int label) {
  IRMapping mapping = partsOf(op, *indexingOf(op), label);
  OpBuilder builder(&op);
  Value partial = builder.clone(op, mapping)->getResult(0);
  op.getResult(0).replaceAllUsesWith(createAllReduce(builder, op.getLoc(), partial));
}

Value UpdateSharding::partOf(Value whole) {
  if (Value made = parts.lookup(whole))
    return made;
  OpBuilder builder(whole.getContext());
  builder.setInsertionPointAfterValue(whole);
  Value part = makePart(whole, builder);
  parts[whole] = part;
  return part;
}

Value UpdateSharding::makePart(Value whole, OpBuilder &builder) {
  Operation &op = *whole.getDefiningOp();
  const Location loc = op.getLoc();
  const RankedTensorType type = partType(whole.getType());
  if (auto sum = dyn_cast<train::SumOverRanksOp>(op)) {
    builder.setInsertionPointAfterValue(sum.getValue());
    Value pending = dist::ReduceScatterStartOp::create(builder, loc, type, sum.getValue());
    builder.setInsertionPoint(sum);
    return dist::WaitOp::create(builder, loc, pending);
  }
  if (auto get = dyn_cast<train::GetOp>(op); isRead(get, shrunk))
    return train::GetOp::create(builder, loc, type, get.getStateAttr());
  if (Value cloned = clonePart(op, builder))
    return cloned;
  return dist::PartOp::create(builder, loc, type, whole);
}

/// The op on parts; null where its elements depend on where they stand.
Value UpdateSharding::clonePart(Operation &op, OpBuilder &builder) {
  std::optional<IndexingRule> rule = indexingOf(op);
  const int label = rule ? leading(rule->results.front()) : -1;
  if (!rule || !canDivide(op, *rule, label, ranks))
    return {};
  IRMapping mapping = partsOf(op, *rule, label);
  const bool repeats = !isa<ElementwiseOpInterface>(op) || op.hasTrait<OpTrait::ConstantLike>();
  if (mapping.getValueMap().empty() && !repeats)
    return {};
  Operation *clone = builder.clone(op, mapping);
  retype(clone, typeOf(op.getResult(0)), partType(op.getResult(0).getType()));
  clone->getResult(0).setType(partType(op.getResult(0).getType()));
  return clone->getResult(0);
}
