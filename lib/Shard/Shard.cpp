// Pass `shard`: sums over ranks become collectives, and each rank computes and keeps its shard of the update.
#include "dialects/Dist/Dist.h"
#include "dialects/NN/Builders.h"
#include "dialects/Train/Sharding.h"
#include "lib/Shard/Passes.h"
#include "lib/Shard/Redistribute.h"
#include "lib/Shard/ShardedValues.h"
#include "lib/Support/Retype.h"
#include "plan/settings/settings.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace trainc;
using dist::PlacementAttr;

/// Creates the elementwise maximum over ranks by gathering all values, because collectives can only sum.
static Value createMaximum(OpBuilder &builder, train::MaxOverRanksOp maximum, const Mesh &mesh) {
  nn::TensorBuilder build(builder, maximum.getLoc());
  Value part = build.reshape(maximum.getValue(), {nn::tensorType(maximum.getValue()).getNumElements()});
  const int64_t count = nn::shapeOf(part).front();
  Value all = createAllGather(builder, maximum.getLoc(), part, dist::namesOf(mesh, builder.getContext()));
  Value largest = build.reduce(nn::ReduceKind::max, build.reshape(all, {mesh.ranks(), count}), {0});
  return build.reshape(largest, nn::shapeOf(maximum.getValue()));
}

/// Returns the placement of a value that each rank has computed of its own samples.
static PlacementAttr ownOnEachRank(ModuleOp module) {
  const Mesh mesh = dist::meshOf(module);
  SmallVector<std::pair<StringRef, Along>> along;
  for (const Axis &axis : mesh.axes())
    along.push_back({axis.name, {Along::Own}});
  return PlacementAttr::get(module.getContext(), along);
}

// --- A rank's part of the update ---

namespace {

/// Shards the update. A rank computes only its shard of values that can be sharded. States shrink to shards.
/// Parameters are gathered after they are written or, if they are sharded too, when they are read. Ops that
/// need more than shards, including sums over dimension 0, run on whole values, so that all stages and
/// numbers of ranks give the same bits.
class UpdateSharding {
public:
  /// States are sharded over the `ranks` ranks along the axis `shard`.
  UpdateSharding(ModuleOp module, int64_t ranks, int64_t zeroStage)
      : module(module), ranks(ranks), sharded(module, ranks, zeroStage), own(ownOnEachRank(module)),
        whole(PlacementAttr::get(module.getContext(), {})),
        shard(PlacementAttr::get(module.getContext(), {{dist::kShardAxis, Along::sharded(0)}})) {}

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
  Value cloneShard(Operation &op, OpBuilder &builder);
  RankedTensorType partType(Type whole) const;

  ModuleOp module;
  int64_t ranks;
  ShardedValues sharded;
  PlacementAttr own, whole, shard;
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
      dist::shardState(state);
    }
}

void UpdateSharding::rewriteWrite(train::SetOp set) {
  if (sharded.isSharded(set.getState())) {
    set.getValueMutable().assign(shardOf(set.getValue()));
  } else if (sharded.isSharded(set.getValue())) {
    OpBuilder builder(set);
    Value part = shardOf(set.getValue());
    set.getValueMutable().assign(redistribute(builder, set.getLoc(), part, shard, whole));
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
  Value result = op.getResult(0), part = shardOf(result);
  OpBuilder builder(&op);
  builder.setInsertionPointAfterValue(part);
  result.replaceAllUsesWith(redistribute(builder, op.getLoc(), part, shard, whole));
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

Value UpdateSharding::makeShard(Value value, OpBuilder &builder) {
  Operation &op = *value.getDefiningOp();
  const Location loc = op.getLoc();
  if (auto sum = dyn_cast<train::SumOverRanksOp>(op)) {
    builder.setInsertionPoint(sum);
    return redistribute(builder, loc, sum.getValue(), own, shard, sum.getOfAttr());
  }
  if (auto get = dyn_cast<train::GetOp>(op); get && sharded.isSharded(get.getState()))
    return train::GetOp::create(builder, loc, partType(value.getType()), get.getStateAttr());
  if (Value cloned = cloneShard(op, builder))
    return cloned;
  return redistribute(builder, loc, value, whole, shard);
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
    for (auto program : getOperation().getOps<train::ProgramOp>()) {
      createMesh(program);
      if (!train::shardsUpdates(program))
        continue;
      if (failed(requireShardable()))
        return signalPassFailure();
      UpdateSharding(getOperation(), train::shardingOf(program).shardRanks, train::kZeroStage.of(program))
          .run();
    }
    const Mesh mesh = dist::meshOf(getOperation());
    getOperation()->walk([&](train::MaxOverRanksOp maximum) {
      OpBuilder builder(maximum);
      maximum.getResult().replaceAllUsesWith(createMaximum(builder, maximum, mesh));
      maximum.erase();
    });
    const PlacementAttr own = ownOnEachRank(getOperation()), whole = PlacementAttr::get(&getContext(), {});
    getOperation()->walk([&](train::SumOverRanksOp sum) {
      OpBuilder builder(sum);
      sum.getResult().replaceAllUsesWith(
          redistribute(builder, sum.getLoc(), sum.getValue(), own, whole, sum.getOfAttr()));
      sum.erase();
    });
  }

private:
  /// Requires that every state with a placement is to be sharded along dimension 0 over the axis `shard`, the
  /// only placement to which UpdateSharding changes others.
  LogicalResult requireShardable() {
    const auto expected = PlacementAttr::get(&getContext(), {{dist::kShardAxis, Along::sharded(0)}});
    for (auto state : getOperation().getOps<train::StateOp>())
      if (const PlacementAttr placement = dist::placementOf(state); placement && placement != expected)
        return state.emitOpError() << "has the placement " << placement << "; expected " << expected
                                   << ", or none: updates are sharded along dimension 0 only";
    return success();
  }

  /// Creates the mesh unless the module has one. Copies of the states lie along `replica`, shards of them
  /// along `shard`. An axis of one rank is left out.
  void createMesh(train::ProgramOp program) {
    const int64_t shards = train::shardingOf(program).shardRanks,
                  replicas = train::kRanks.of(program) / shards;
    SmallVector<StringRef> names;
    SmallVector<int64_t> sizes;
    for (auto [name, size] : {std::pair(dist::kReplicaAxis, replicas), std::pair(dist::kShardAxis, shards)})
      if (size > 1) {
        names.push_back(name);
        sizes.push_back(size);
      }
    OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
    if (!names.empty() && dist::meshOf(getOperation()).axes().empty())
      dist::MeshOp::create(builder, program.getLoc(), builder.getStrArrayAttr(names), sizes);
  }
};

} // namespace
} // namespace trainc
