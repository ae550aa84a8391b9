#include "lib/Shard/UpdateSharding.h"

#include "dialects/Dist/Dist.h"
#include "lib/Shard/Collectives.h"
#include "lib/Support/Retype.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace trainc;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static int leading(ArrayRef<int> labels) { return labels.empty() ? -1 : labels.front(); }

/// Whether `label` stands at dimension 0 alone.
static bool isLeadingOnly(int label, ArrayRef<SmallVector<int>> labels) {
  return llvm::all_of(
      labels, [&](ArrayRef<int> of) { return of.empty() || !llvm::is_contained(of.drop_front(), label); });
}

/// The label along which parts of an op's one result are computed from parts of its operands; -1 if there is
/// none.
static int dividingLabel(Operation &op, const IndexingRule &rule) {
  if (op.getNumResults() != 1)
    return -1;
  const int label = leading(rule.results.front());
  return isLeadingOnly(label, rule.operands) && isLeadingOnly(label, rule.results) ? label : -1;
}

RankedTensorType UpdateSharding::partType(Type whole) const {
  auto type = cast<RankedTensorType>(whole);
  SmallVector<int64_t> shape(type.getShape());
  shape.front() /= ranks;
  return type.clone(shape);
}

void UpdateSharding::run() {
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
      else if (get && shrunk.contains(get.getState()) && divided.contains(get.getResult()))
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
    return shrunk.contains(get.getState());
  auto indexing = dyn_cast<IndexingOpInterface>(op);
  if (!indexing)
    return false;
  IndexingRule rule = indexing.getIndexingRule();
  const int label = dividingLabel(op, rule);
  return label != -1 && llvm::any_of(llvm::zip(op.getOperands(), rule.operands), [&](auto pair) {
           auto [operand, labels] = pair;
           return leading(labels) == label && divided.contains(operand);
         });
}

/// Whether the op sums divided values over dimension 0, so that sums of parts add up to its result.
bool UpdateSharding::sumsParts(Operation &op) const {
  auto indexing = dyn_cast<IndexingOpInterface>(op);
  if (!indexing || op.getNumResults() != 1)
    return false;
  IndexingRule rule = indexing.getIndexingRule();
  bool reads = false;
  for (auto [operand, labels] : llvm::zip(op.getOperands(), rule.operands)) {
    if (!divided.contains(operand))
      continue;
    reads = true;
    if (leading(labels) == -1 || llvm::is_contained(rule.results.front(), leading(labels)))
      return false;
  }
  return reads;
}

/// What the forward reads must stay whole.
bool UpdateSharding::mayShrink(StringRef state) const {
  auto role = cast<train::StateOp>(SymbolTable::lookupSymbolIn(module, state)).getRole();
  return role == train::Role::optimizer || role == train::Role::gradient;
}

//===-- Rewriting
//-----------------------------------------------------------------------------------------===//

void UpdateSharding::rewrite(Operation &op) {
  if (auto set = dyn_cast<train::SetOp>(op))
    return rewriteWrite(set);
  if (sumsParts(op))
    rewriteSum(op);
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

/// A sum over the divided dimension: of the part, then over the ranks.
void UpdateSharding::rewriteSum(Operation &op) {
  OpBuilder builder(&op);
  IRMapping mapping;
  for (Value operand : op.getOperands())
    if (divided.contains(operand))
      mapping.map(operand, partOf(operand));
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
  if (auto get = dyn_cast<train::GetOp>(op); get && shrunk.contains(get.getState()))
    return train::GetOp::create(builder, loc, type, get.getStateAttr());
  if (Value cloned = clonePart(op, builder))
    return cloned;
  return dist::PartOp::create(builder, loc, type, whole);
}

/// The op on parts; null where its elements depend on where they stand.
Value UpdateSharding::clonePart(Operation &op, OpBuilder &builder) {
  auto indexing = dyn_cast<IndexingOpInterface>(op);
  if (!indexing)
    return {};
  IndexingRule rule = indexing.getIndexingRule();
  const int label = dividingLabel(op, rule);
  IRMapping mapping;
  bool carries = false;
  for (auto [operand, labels] : llvm::zip(op.getOperands(), rule.operands))
    if (label != -1 && leading(labels) == label) {
      mapping.map(operand, partOf(operand));
      carries = true;
    }
  const bool repeats = !isa<ElementwiseOpInterface>(op) || op.hasTrait<OpTrait::ConstantLike>();
  if (label == -1 || !(carries || repeats))
    return {};
  Operation *clone = builder.clone(op, mapping);
  retype(clone, typeOf(op.getResult(0)), partType(op.getResult(0).getType()));
  clone->getResult(0).setType(partType(op.getResult(0).getType()));
  return clone->getResult(0);
}
