// Pass `shard`: sums over ranks become collectives, and each rank computes and keeps its shard of the update.
#include "dialects/Dist/Dist.h"
#include "dialects/NN/Builders.h"
#include "dialects/Train/Settings.h"
#include "dialects/Train/Sharding.h"
#include "lib/Shard/Passes.h"
#include "lib/Shard/ShardedValues.h"
#include "lib/Support/Retype.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace trainc;

// --- Collectives, each a start and a wait ---

/// Creates the sum of `value` over ranks. It starts right after the value is defined and waits at the
/// builder's position. `of` is the parameter state if `value` is its gradient, else null.
static Value createAllReduce(OpBuilder &builder, Location loc, Value value, RankGroup group,
                             FlatSymbolRefAttr of) {
  OpBuilder early(builder);
  early.setInsertionPointAfterValue(value);
  Value pending = dist::AllReduceStartOp::create(early, loc, value, group, of, IntegerAttr());
  return dist::WaitOp::create(builder, loc, pending);
}

/// Creates the concatenation of the group's shards, of type `whole`, in the same way.
static Value createAllGather(OpBuilder &builder, Location loc, Type whole, Value part,
                             RankGroup group = RankGroup::shard) {
  OpBuilder early(builder);
  early.setInsertionPointAfterValue(part);
  Value pending = dist::AllGatherStartOp::create(early, loc, whole, part, group, IntegerAttr());
  return dist::WaitOp::create(builder, loc, pending);
}

/// Creates the elementwise maximum over ranks by gathering all values, because collectives can only sum.
static Value createMaximum(OpBuilder &builder, train::MaxOverRanksOp maximum, int64_t ranks) {
  nn::TensorBuilder build(builder, maximum.getLoc());
  Value part = build.reshape(maximum.getValue(), {nn::tensorType(maximum.getValue()).getNumElements()});
  const int64_t count = nn::shapeOf(part).front();
  Value all =
      createAllGather(builder, maximum.getLoc(), nn::typeLike(part, {ranks * count}), part, RankGroup::all);
  Value largest = build.reduce(nn::ReduceKind::max, build.reshape(all, {ranks, count}), {0});
  return build.reshape(largest, nn::shapeOf(maximum.getValue()));
}

// --- A rank's part of the update ---

namespace {

/// Shards the update. A rank computes only its shard of values that can be sharded. States shrink to shards.
/// Parameters are gathered after they are written or, if they are sharded too, when they are read. Ops that
/// need more than shards, including sums over dimension 0, run on whole values, so that all stages and
/// numbers of ranks give the same bits.
class UpdateSharding {
public:
  /// States are sharded over `ranks`. With `hasReplicas`, other groups of as many ranks hold the same shards.
  UpdateSharding(ModuleOp module, int64_t ranks, bool hasReplicas, int64_t zeroStage)
      : module(module), ranks(ranks), hasReplicas(hasReplicas), sharded(module, ranks, zeroStage) {}

  void run();

private:
  void rewriteWrite(train::SetOp set);
  void gatherRead(Block &block);
  bool isGathered(Operation &op) const;
  void gather(Operation &op);
  /// Returns this rank's shard of `whole`.
  Value shardOf(Value whole);
  IRMapping shardsOf(ArrayRef<Value> wholes);
  Value makeShard(Value whole, OpBuilder &builder);
  Value makeSum(train::SumOverRanksOp sum, RankedTensorType part, OpBuilder &builder);
  Value cloneShard(Operation &op, OpBuilder &builder);
  RankedTensorType partType(Type whole) const;

  ModuleOp module;
  int64_t ranks;
  bool hasReplicas;
  ShardedValues sharded;
  DenseMap<Value, Value> shards;
  llvm::SetVector<Operation *> dead; ///< users precede the ops that they use
};

} // namespace

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
  for (Operation *op : dead) // erased last, because values are identified by their addresses
    op->erase();
  for (auto state : module.getOps<train::StateOp>())
    if (sharded.isSharded(state.getSymName())) {
      state.setType(partType(state.getType()));
      state.setDivided(true);
    }
}

void UpdateSharding::rewriteWrite(train::SetOp set) {
  if (sharded.isSharded(set.getState())) {
    set.getValueMutable().assign(shardOf(set.getValue()));
  } else if (sharded.isSharded(set.getValue())) {
    OpBuilder builder(set);
    Type whole = set.getValue().getType();
    set.getValueMutable().assign(createAllGather(builder, set.getLoc(), whole, shardOf(set.getValue())));
  }
}

/// Gathers values that are still read whole, and adds ops without users to `dead`.
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
  if (op.getNumResults() != 1 || !sharded.isSharded(op.getResult(0)))
    return false;
  auto get = dyn_cast<train::GetOp>(op);
  return !get || sharded.isSharded(get.getState());
}

void UpdateSharding::gather(Operation &op) {
  Value whole = op.getResult(0), part = shardOf(whole);
  OpBuilder builder(&op);
  builder.setInsertionPointAfterValue(part);
  whole.replaceAllUsesWith(createAllGather(builder, op.getLoc(), whole.getType(), part));
}

Value UpdateSharding::shardOf(Value whole) {
  if (Value made = shards.lookup(whole))
    return made;
  OpBuilder builder(whole.getContext());
  builder.setInsertionPointAfterValue(whole);
  Value part = makeShard(whole, builder);
  shards[whole] = part;
  return part;
}

IRMapping UpdateSharding::shardsOf(ArrayRef<Value> wholes) {
  IRMapping mapping;
  for (Value whole : wholes)
    mapping.map(whole, shardOf(whole));
  return mapping;
}

Value UpdateSharding::makeShard(Value whole, OpBuilder &builder) {
  Operation &op = *whole.getDefiningOp();
  const Location loc = op.getLoc();
  const RankedTensorType type = partType(whole.getType());
  if (auto sum = dyn_cast<train::SumOverRanksOp>(op))
    return makeSum(sum, type, builder);
  if (auto get = dyn_cast<train::GetOp>(op); get && sharded.isSharded(get.getState()))
    return train::GetOp::create(builder, loc, type, get.getStateAttr());
  if (Value cloned = cloneShard(op, builder))
    return cloned;
  return dist::PartOp::create(builder, loc, type, whole);
}

/// If groups are subtrees of the tree over which all ranks sum, each group sums first and the groups' sums
/// are added. Other groups would give other bits, so that the sum is all-reduced over all ranks. Group sums
/// of bf16 or f16 numbers stay f32 until they are added, so that the total is rounded once, like a sum over
/// all ranks.
Value UpdateSharding::makeSum(train::SumOverRanksOp sum, RankedTensorType part, OpBuilder &builder) {
  const Location loc = sum.getLoc();
  if (hasReplicas && !llvm::isPowerOf2_64(ranks)) {
    builder.setInsertionPoint(sum);
    Value whole = createAllReduce(builder, loc, sum.getValue(), RankGroup::all, sum.getOfAttr());
    return dist::PartOp::create(builder, loc, part, whole);
  }
  const Type element = part.getElementType();
  const RankedTensorType kept = hasReplicas ? part.clone(nn::wideElement(element)) : part;
  builder.setInsertionPointAfterValue(sum.getValue());
  Value pending = dist::ReduceScatterStartOp::create(builder, loc, kept, sum.getValue(), RankGroup::shard,
                                                     sum.getOfAttr(), IntegerAttr());
  builder.setInsertionPoint(sum);
  Value sums = dist::WaitOp::create(builder, loc, pending);
  if (hasReplicas)
    sums = createAllReduce(builder, loc, sums, RankGroup::replica, sum.getOfAttr());
  return nn::TensorBuilder(builder, loc).convert(sums, element);
}

/// Returns the op on shards; null if its elements depend on their position.
Value UpdateSharding::cloneShard(Operation &op, OpBuilder &builder) {
  const int label = sharded.shardLabel(op);
  if (label == -1)
    return {};
  SmallVector<Value> operands = ShardedValues::operandsWith(op, label);
  const bool repeats = !isa<ElementwiseOpInterface>(op) || op.hasTrait<OpTrait::ConstantLike>();
  if (operands.empty() && !repeats)
    return {};
  IRMapping mapping = shardsOf(operands);
  Operation *clone = builder.clone(op, mapping);
  auto whole = cast<RankedTensorType>(op.getResult(0).getType());
  retype(clone, whole, partType(whole));
  clone->getResult(0).setType(partType(whole));
  return clone->getResult(0);
}

// --- The pass ---

namespace trainc {

#define GEN_PASS_DEF_SHARD
#include "lib/Shard/Passes.h.inc"

namespace {

struct Shard : impl::ShardBase<Shard> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<train::ProgramOp>())
      if (train::kRanks.of(program) > 1 && train::kZeroStage.of(program) > 0)
        shardUpdate(program);
    for (auto program : getOperation().getOps<train::ProgramOp>())
      getOperation()->walk([&](train::MaxOverRanksOp maximum) {
        OpBuilder builder(maximum);
        maximum.getResult().replaceAllUsesWith(createMaximum(builder, maximum, train::kRanks.of(program)));
        maximum.erase();
      });
    getOperation()->walk([](train::SumOverRanksOp sum) {
      OpBuilder builder(sum);
      sum.getResult().replaceAllUsesWith(
          createAllReduce(builder, sum.getLoc(), sum.getValue(), RankGroup::all, sum.getOfAttr()));
      sum.erase();
    });
  }

private:
  void shardUpdate(train::ProgramOp program) {
    const int64_t shardRanks = train::shardingOf(program).shardRanks;
    UpdateSharding(getOperation(), shardRanks, shardRanks < train::kRanks.of(program),
                   train::kZeroStage.of(program))
        .run();
  }
};

} // namespace
} // namespace trainc
