#include "lib/Reference/Ranks.h"

#include "dialects/Dist/Dist.h"
#include "lib/Reference/Registry.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::reference;

/// Sums all ranks over a binary tree that is aligned at powers of two.
static Tensor sumOf(ArrayRef<const Tensor *> ranks) {
  if (ranks.size() == 1)
    return *ranks.front();
  size_t half = llvm::PowerOf2Ceil(ranks.size()) / 2;
  Tensor left = sumOf(ranks.take_front(half)), right = sumOf(ranks.drop_front(half));
  for (auto [sum, term] : llvm::zip(left.reals, right.reals))
    sum += term;
  return left;
}

/// Returns the elements of `flat` from `offset` on as a tensor.
static Tensor elementsAt(const Tensor &flat, int64_t offset, Value result) {
  Tensor tensor(result);
  for (int64_t i = 0; i < tensor.elements(); ++i)
    tensor.copyElement(i, flat, offset + i);
  return tensor;
}

/// Returns the shard of rank `rank`.
static Tensor shardOf(const Tensor &whole, Value result, size_t rank) {
  return elementsAt(whole, int64_t(rank) * Tensor(result).elements(), result);
}

/// Copies the tensor's elements into `flat` from `offset` on.
static void put(const Tensor &tensor, Tensor &flat, int64_t offset) {
  for (int64_t i = 0; i < tensor.elements(); ++i)
    flat.copyElement(offset + i, tensor, i);
}

using Ranks = ArrayRef<Frame *>;

/// Returns the frames of the ranks in each group along the axes.
static SmallVector<SmallVector<Frame *>> groupsOf(ArrayAttr axes, MutableArrayRef<Frame> frames,
                                                  const Mesh &mesh) {
  const RankGroupShape shape = dist::shapeOf(mesh, axes);
  SmallVector<SmallVector<Frame *>> groups(shape.groups());
  for (auto [rank, frame] : llvm::enumerate(frames))
    groups[shape.groupOf(uint32_t(rank))].push_back(&frame);
  return groups;
}

/// Returns each rank's tensor for `value`.
static SmallVector<const Tensor *> valuesOf(Value value, Ranks frames) {
  return llvm::map_to_vector(frames, [&](const Frame *frame) { return &(*frame)[value]; });
}

/// Returns the sum of `value`, which must be floats, over ranks in the element type of `result`, rounded once
/// if that is bf16 or f16.
static FailureOr<Tensor> sumOverRanks(Operation *op, Value value, Value result, Ranks frames) {
  SmallVector<const Tensor *> values = valuesOf(value, frames);
  if (!values.front()->isFloat())
    return op->emitOpError("sums floats, found ") << value.getType();
  Tensor sum = sumOf(values);
  sum = sum.withType(sum.type().clone(cast<RankedTensorType>(result.getType()).getElementType()));
  sum.roundShortNumbers();
  return sum;
}

static LogicalResult run(dist::AllReduceStartOp op, Ranks frames) {
  FailureOr<Tensor> sum = sumOverRanks(op, op.getValue(), op.getPending(), frames);
  if (failed(sum))
    return failure();
  for (Frame *frame : frames)
    frame->define(op.getPending(), *sum);
  return success();
}

static LogicalResult run(dist::ReduceScatterStartOp op, Ranks frames) {
  FailureOr<Tensor> sum = sumOverRanks(op, op.getValue(), op.getPending(), frames);
  if (failed(sum))
    return failure();
  for (auto [place, frame] : llvm::enumerate(frames))
    frame->define(op.getPending(), shardOf(*sum, op.getPending(), place));
  return success();
}

static LogicalResult run(dist::AllGatherStartOp op, Ranks frames) {
  Tensor whole(op.getPending());
  for (auto [place, part] : llvm::enumerate(valuesOf(op.getPart(), frames)))
    put(*part, whole, int64_t(place) * part->elements());
  for (Frame *frame : frames)
    frame->define(op.getPending(), whole);
  return success();
}

template <typename Start>
static LogicalResult runInGroups(Start op, MutableArrayRef<Frame> frames, const Mesh &mesh) {
  for (SmallVector<Frame *> &group : groupsOf(op.getAxes(), frames, mesh))
    if (failed(run(op, group)))
      return failure();
  return success();
}

/// Runs ops that depend on other ranks or on the rank's number; returns none for other ops.
static std::optional<LogicalResult> runAcrossRanks(Operation &op, MutableArrayRef<Frame> frames,
                                                   const Mesh &mesh) {
  return TypeSwitch<Operation *, std::optional<LogicalResult>>(&op)
      .Case<dist::AllReduceStartOp, dist::ReduceScatterStartOp, dist::AllGatherStartOp>(
          [&](auto start) { return runInGroups(start, frames, mesh); })
      .Case([&](dist::PartOp op) {
        const RankGroupShape shape = dist::shapeOf(mesh, op.getAxes());
        for (auto [rank, frame] : llvm::enumerate(frames))
          frame.define(op.getPart(),
                       shardOf(frame[op.getWhole()], op.getPart(), shape.placeOf(uint32_t(rank))));
        return success();
      })
      .Default([](Operation *) { return std::nullopt; });
}

LogicalResult trainc::reference::runEntryOnRanks(ModuleOp module, EntryKind kind,
                                                 MutableArrayRef<EntryMemory> ranks) {
  auto entry = findEntry<train::EntryOp>(module, kind);
  if (!entry)
    return module.emitError("has no train.entry of the kind ") << stringifyEntryKind(kind);
  const Mesh mesh = dist::meshOf(module);
  SmallVector<Frame> frames;
  for (EntryMemory &rank : ranks)
    frames.emplace_back(&rank);
  for (Operation &op : entry.getBody().front()) {
    if (std::optional<LogicalResult> done = runAcrossRanks(op, frames, mesh)) {
      if (failed(*done))
        return failure();
      continue;
    }
    for (Frame &frame : frames)
      if (failed(runAndDefine(op, frame)))
        return failure();
  }
  return success();
}

void trainc::reference::registerRanks(Registry &registry) {
  registry.add<dist::WaitOp>([](dist::WaitOp op, Frame &frame) { return frame[op.getPending()]; });
  registry.add<dist::PackOp>([](dist::PackOp op, Frame &frame) {
    Tensor flat(op.getFlat());
    for (auto [member, offset] : llvm::zip(op.getMembers(), op.getOffsets()))
      put(std::as_const(frame)[member], flat, offset);
    return flat;
  });
  registry.add<dist::MemberOp>([](dist::MemberOp op, Frame &frame) {
    return elementsAt(frame[op.getFlat()], int64_t(op.getOffset()), op.getValue());
  });
}
