#include "lib/Shard/UpdateSharding.h"

#include "dialects/Dist/Dist.h"
#include "lib/Shard/Collectives.h"
#include "lib/Support/Retype.h"

using namespace mlir;
using namespace trainc;

RankedTensorType UpdateSharding::partType(Type whole) const {
  auto type = cast<RankedTensorType>(whole);
  SmallVector<int64_t> shape(type.getShape());
  shape.front() /= ranks;
  return type.clone(shape);
}

void UpdateSharding::run() {
  for (auto entry : module.getOps<train::EntryOp>())
    for (auto set : llvm::make_early_inc_range(entry.getBody().getOps<train::SetOp>()))
      rewriteWrite(set);
  for (auto entry : module.getOps<train::EntryOp>())
    gatherRead(entry.getBody().front());
  for (Operation *op : dead) // at the end, as values are known by their addresses
    op->erase();
  for (auto state : module.getOps<train::StateOp>())
    if (division.isDivided(state.getSymName())) {
      state.setType(partType(state.getType()));
      state.setDivided(true);
    }
}

void UpdateSharding::rewriteWrite(train::SetOp set) {
  if (division.isDivided(set.getState())) {
    set.getValueMutable().assign(partOf(set.getValue()));
  } else if (division.isDivided(set.getValue())) {
    OpBuilder builder(set);
    Type whole = set.getValue().getType();
    set.getValueMutable().assign(createAllGather(builder, set.getLoc(), whole, partOf(set.getValue())));
  }
}

/// Gathers parts where the whole is still read, and adds the ops to `dead` that nobody reads any more.
void UpdateSharding::gatherRead(Block &block) {
  for (Operation &op : llvm::reverse(block)) {
    const bool read = llvm::any_of(op.getUsers(), [&](Operation *user) { return !dead.contains(user); });
    if (read && isGathered(op))
      gather(op);
    else if (read || !wouldOpBeTriviallyDead(&op))
      continue;
    dead.insert(&op);
  }
}

bool UpdateSharding::isGathered(Operation &op) const {
  if (op.getNumResults() != 1 || !division.isDivided(op.getResult(0)))
    return false;
  auto get = dyn_cast<train::GetOp>(op);
  return !get || division.isDivided(get.getState());
}

void UpdateSharding::gather(Operation &op) {
  Value whole = op.getResult(0), part = partOf(whole);
  OpBuilder builder(&op);
  builder.setInsertionPointAfterValue(part);
  whole.replaceAllUsesWith(createAllGather(builder, op.getLoc(), whole.getType(), part));
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

IRMapping UpdateSharding::partsOf(ArrayRef<Value> wholes) {
  IRMapping mapping;
  for (Value whole : wholes)
    mapping.map(whole, partOf(whole));
  return mapping;
}

Value UpdateSharding::makePart(Value whole, OpBuilder &builder) {
  Operation &op = *whole.getDefiningOp();
  const Location loc = op.getLoc();
  const RankedTensorType type = partType(whole.getType());
  if (auto sum = dyn_cast<train::SumOverRanksOp>(op))
    return makeSum(sum, type, builder);
  if (auto get = dyn_cast<train::GetOp>(op); get && division.isDivided(get.getState()))
    return train::GetOp::create(builder, loc, type, get.getStateAttr());
  if (Value cloned = clonePart(op, builder))
    return cloned;
  return dist::PartOp::create(builder, loc, type, whole);
}

/// Groups that are subtrees of the tree over which all ranks sum divide a sum first; what others have summed
/// would have other bits, so all ranks make the sum whole.
Value UpdateSharding::makeSum(train::SumOverRanksOp sum, Type part, OpBuilder &builder) {
  const Location loc = sum.getLoc();
  if (hasReplicas && !llvm::isPowerOf2_64(ranks)) {
    builder.setInsertionPoint(sum);
    Value whole = createAllReduce(builder, loc, sum.getValue(), RankGroup::all, sum.getOfAttr());
    return dist::PartOp::create(builder, loc, part, whole);
  }
  builder.setInsertionPointAfterValue(sum.getValue());
  Value pending = dist::ReduceScatterStartOp::create(builder, loc, part, sum.getValue(), RankGroup::shard,
                                                     sum.getOfAttr(), IntegerAttr());
  builder.setInsertionPoint(sum);
  Value sums = dist::WaitOp::create(builder, loc, pending);
  return hasReplicas ? createAllReduce(builder, loc, sums, RankGroup::replica, sum.getOfAttr()) : sums;
}

/// The op on parts; null where its elements depend on where they stand.
Value UpdateSharding::clonePart(Operation &op, OpBuilder &builder) {
  const int label = division.partLabel(op);
  if (label == -1)
    return {};
  SmallVector<Value> operands = Division::operandsWith(op, label);
  const bool repeats = !isa<ElementwiseOpInterface>(op) || op.hasTrait<OpTrait::ConstantLike>();
  if (operands.empty() && !repeats)
    return {};
  IRMapping mapping = partsOf(operands);
  Operation *clone = builder.clone(op, mapping);
  auto whole = cast<RankedTensorType>(op.getResult(0).getType());
  retype(clone, whole, partType(whole));
  clone->getResult(0).setType(partType(whole));
  return clone->getResult(0);
}
