// Pass `shard`: sums over ranks become collectives, and each rank computes and keeps its part of the update.
#include "dialects/Dist/Dist.h"
#include "dialects/NN/Builders.h"
#include "dialects/Train/Sharding.h"
#include "lib/Shard/Division.h"
#include "lib/Shard/Passes.h"
#include "lib/Support/Retype.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace trainc;

// --- Collectives, each a start and a wait ---

/// The sum of `value` over the ranks: starts as soon as the value is known, waits at `builder`'s place. `of`:
/// the parameters' state whose gradient it is, or null.
static Value createAllReduce(OpBuilder &builder, Location loc, Value value, RankGroup group,
                             FlatSymbolRefAttr of) {
  OpBuilder early(builder);
  early.setInsertionPointAfterValue(value);
  Value pending = dist::AllReduceStartOp::create(early, loc, value, group, of, IntegerAttr());
  return dist::WaitOp::create(builder, loc, pending);
}

/// The parts of the ranks of a group side by side, of type `whole`; likewise.
static Value createAllGather(OpBuilder &builder, Location loc, Type whole, Value part,
                             RankGroup group = RankGroup::shard) {
  OpBuilder early(builder);
  early.setInsertionPointAfterValue(part);
  Value pending = dist::AllGatherStartOp::create(early, loc, whole, part, group, IntegerAttr());
  return dist::WaitOp::create(builder, loc, pending);
}

/// The largest of what the ranks have, element by element: collectives can but add.
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

/// Of what can be divided a rank computes its part alone: states shrink to it, parameters are gathered when
/// written, or, where they are divided too, when read. Ops for which parts do not suffice, sums over
/// dimension 0 too, work on the whole value, so that all stages and numbers of ranks compute the same bits.
class UpdateSharding {
public:
  /// `ranks` divide states among themselves; other groups of as many may have the same.
  UpdateSharding(ModuleOp module, int64_t ranks, bool hasReplicas, int64_t zeroStage)
      : module(module), ranks(ranks), hasReplicas(hasReplicas), division(module, ranks, zeroStage) {}

  void run();

private:
  void rewriteWrite(train::SetOp set);
  void gatherRead(Block &block);
  bool isGathered(Operation &op) const;
  void gather(Operation &op);
  /// This rank's part of `whole`.
  Value partOf(Value whole);
  IRMapping partsOf(ArrayRef<Value> wholes);
  Value makePart(Value whole, OpBuilder &builder);
  Value makeSum(train::SumOverRanksOp sum, RankedTensorType part, OpBuilder &builder);
  Value clonePart(Operation &op, OpBuilder &builder);
  RankedTensorType partType(Type whole) const;

  ModuleOp module;
  int64_t ranks;
  bool hasReplicas;
  Division division;
  DenseMap<Value, Value> parts;
  llvm::SetVector<Operation *> dead; ///< users before what they use
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
/// would have other bits, so all ranks make the sum whole. What groups sum of bf16 or f16 numbers stays f32
/// until the groups' sums are added: a sum is rounded once, as that over all ranks is.
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

// --- The pass ---

namespace trainc {

#define GEN_PASS_DEF_SHARD
#include "lib/Shard/Passes.h.inc"

namespace {

struct Shard : impl::ShardBase<Shard> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<train::ProgramOp>())
      if (program.getRanks() > 1 && program.getZeroStage() > 0)
        shardUpdate(program);
    for (auto program : getOperation().getOps<train::ProgramOp>())
      getOperation()->walk([&](train::MaxOverRanksOp maximum) {
        OpBuilder builder(maximum);
        maximum.getResult().replaceAllUsesWith(createMaximum(builder, maximum, int64_t(program.getRanks())));
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
    UpdateSharding(getOperation(), shardRanks, shardRanks < int64_t(program.getRanks()),
                   program.getZeroStage())
        .run();
  }
};

} // namespace
} // namespace trainc
