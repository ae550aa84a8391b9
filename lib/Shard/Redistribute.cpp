#include "lib/Shard/Redistribute.h"

#include "dialects/NN/Builders.h"

using namespace mlir;
using namespace trainc;
using dist::PlacementAttr;

namespace {

/// Axes of the mesh by the change along them. Values stay as they are along other axes.
struct Change {
  SmallVector<Attribute> summed, scattered, gathered, parted;

  Change(const Mesh &mesh, PlacementAttr from, PlacementAttr to) {
    for (const Axis &axis : mesh.axes()) {
      const Along before = from.along(axis.name), after = to.along(axis.name);
      assert(before.dim == 0 && after.dim == 0 && "collectives cut dimension 0");
      const bool shards = after.kind == Along::Sharded;
      const auto name = StringAttr::get(from.getContext(), axis.name);
      if (before.kind == Along::Own || before.kind == Along::Partial)
        (shards ? scattered : summed).push_back(name);
      else if (before.kind == Along::Sharded && !shards)
        gathered.push_back(name);
      else if (before.kind == Along::Replicated && shards)
        parted.push_back(name);
    }
  }
};

/// Builds the ops of one change.
class Redistribution {
public:
  Redistribution(OpBuilder &builder, Location loc, FlatSymbolRefAttr of)
      : builder(builder), loc(loc), of(of),
        mesh(dist::meshOf(builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>())) {}

  Value apply(Value value, PlacementAttr from, PlacementAttr to) {
    const Change change(mesh, from, to);
    value = sum(value, change);
    if (!change.gathered.empty())
      value = createAllGather(builder, loc, value, names(change.gathered));
    return change.parted.empty() ? value : part(value, change.parted);
  }

private:
  /// If the groups that scatter are subtrees of the tree over which all ranks sum, each of them sums first
  /// and the groups' sums are added. Other groups would give other bits, so that the sum is all-reduced over
  /// all ranks. Sums of bf16 or f16 numbers stay f32 until all are added, so that the total is rounded once,
  /// like one sum.
  Value sum(Value value, const Change &change) {
    if (change.scattered.empty())
      return change.summed.empty() ? value : allReduce(value, change.summed);
    if (change.summed.empty())
      return reduceScatter(value, change.scattered, elementOf(value));
    SmallVector<Attribute> all = change.summed;
    llvm::append_range(all, change.scattered);
    const RankGroupShape group = dist::shapeOf(mesh, names(change.scattered)),
                         other = dist::shapeOf(mesh, names(change.summed));
    if (!llvm::isPowerOf2_32(group.members) || group.stride > other.stride)
      return part(allReduce(value, all), change.scattered);
    const Type element = elementOf(value);
    Value sums = reduceScatter(value, change.scattered, nn::wideElement(element));
    return nn::TensorBuilder(builder, loc).convert(allReduce(sums, change.summed), element);
  }

  Value allReduce(Value value, ArrayRef<Attribute> axes) {
    OpBuilder early = after(value);
    return wait(dist::AllReduceStartOp::create(early, loc, value, names(axes), of, IntegerAttr()));
  }

  Value reduceScatter(Value value, ArrayRef<Attribute> axes, Type element) {
    OpBuilder early = after(value);
    return wait(dist::ReduceScatterStartOp::create(early, loc, partType(value, axes).clone(element), value,
                                                   names(axes), of, IntegerAttr()));
  }

  Value part(Value whole, ArrayRef<Attribute> axes) {
    return dist::PartOp::create(builder, loc, partType(whole, axes), whole, names(axes));
  }

  OpBuilder after(Value value) {
    OpBuilder early(builder);
    early.setInsertionPointAfterValue(value);
    return early;
  }
  Value wait(Value pending) { return dist::WaitOp::create(builder, loc, pending); }
  ArrayAttr names(ArrayRef<Attribute> axes) { return builder.getArrayAttr(axes); }
  static Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

  RankedTensorType partType(Value whole, ArrayRef<Attribute> axes) {
    auto type = cast<RankedTensorType>(whole.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.front() /= dist::shapeOf(mesh, names(axes)).members;
    return type.clone(shape);
  }

  OpBuilder &builder;
  Location loc;
  FlatSymbolRefAttr of;
  Mesh mesh;
};

} // namespace

Value trainc::createAllGather(OpBuilder &builder, Location loc, Value part, ArrayAttr axes) {
  const Mesh mesh = dist::meshOf(builder.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>());
  auto type = cast<RankedTensorType>(part.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.front() *= dist::shapeOf(mesh, axes).members;
  OpBuilder early(builder);
  early.setInsertionPointAfterValue(part);
  Value pending = dist::AllGatherStartOp::create(early, loc, type.clone(shape), part, axes, IntegerAttr());
  return dist::WaitOp::create(builder, loc, pending);
}

Value trainc::redistribute(OpBuilder &builder, Location loc, Value value, PlacementAttr from,
                           PlacementAttr to, FlatSymbolRefAttr of) {
  return Redistribution(builder, loc, of).apply(value, from, to);
}
