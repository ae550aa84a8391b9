#include "lib/Reference/Ranks.h"

#include "dialects/Dist/Dist.h"
#include "lib/Reference/Registry.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::reference;

/// The sum of ranks [first, first + count): a binary tree, aligned at powers of two.
static Tensor sumOf(ArrayRef<const Tensor *> ranks) {
  if (ranks.size() == 1)
    return *ranks.front();
  size_t half = llvm::PowerOf2Ceil(ranks.size()) / 2;
  Tensor left = sumOf(ranks.take_front(half)), right = sumOf(ranks.drop_front(half));
  for (auto [sum, term] : llvm::zip(left.reals, right.reals))
    sum += term;
  return left;
}

/// The values of all ranks, which must be floats.
static FailureOr<Tensor> sumOverRanks(Operation *op, Value value, MutableArrayRef<Frame> frames) {
  SmallVector<const Tensor *> values;
  for (Frame &frame : frames)
    values.push_back(&frame[value]);
  if (!values.front()->isFloat())
    return op->emitOpError("sums floats, found ") << value.getType();
  return sumOf(values);
}

/// Elements from the `index`-th part of `whole` on.
static Tensor partOf(const Tensor &whole, RankedTensorType type, int64_t index) {
  Tensor part(type);
  for (int64_t i = 0; i < part.elements(); ++i)
    part.copyElement(i, whole, index * part.elements() + i);
  return part;
}

static LogicalResult run(dist::AllReduceStartOp op, MutableArrayRef<Frame> frames) {
  FailureOr<Tensor> sum = sumOverRanks(op, op.getValue(), frames);
  if (failed(sum))
    return failure();
  for (Frame &frame : frames)
    frame.define(op.getPending(), *sum);
  return success();
}

static LogicalResult run(dist::ReduceScatterStartOp op, MutableArrayRef<Frame> frames) {
  FailureOr<Tensor> sum = sumOverRanks(op, op.getValue(), frames);
  if (failed(sum))
    return failure();
  for (auto [rank, frame] : llvm::enumerate(frames))
    frame.define(op.getPending(),
                 partOf(*sum, cast<RankedTensorType>(op.getPending().getType()), int64_t(rank)));
  return success();
}

static LogicalResult run(dist::AllGatherStartOp op, MutableArrayRef<Frame> frames) {
  Tensor whole(op.getPending());
  for (auto [rank, frame] : llvm::enumerate(frames)) {
    const Tensor &part = frame[op.getPart()];
    for (int64_t i = 0; i < part.elements(); ++i)
      whole.copyElement(int64_t(rank) * part.elements() + i, part, i);
  }
  for (Frame &frame : frames)
    frame.define(op.getPending(), whole);
  return success();
}

static LogicalResult run(dist::PartOp op, MutableArrayRef<Frame> frames) {
  for (auto [rank, frame] : llvm::enumerate(frames))
    frame.define(op.getPart(),
                 partOf(frame[op.getWhole()], cast<RankedTensorType>(op.getPart().getType()), int64_t(rank)));
  return success();
}

/// What depends on the other ranks, or on this one's number; nothing for other ops.
static std::optional<LogicalResult> runAcrossRanks(Operation &op, MutableArrayRef<Frame> frames) {
  return TypeSwitch<Operation *, std::optional<LogicalResult>>(&op)
      .Case<dist::AllReduceStartOp, dist::ReduceScatterStartOp, dist::AllGatherStartOp, dist::PartOp>(
          [&](auto across) { return run(across, frames); })
      .Default([](Operation *) { return std::nullopt; });
}

LogicalResult trainc::reference::runEntryOnRanks(ModuleOp module, StringRef name,
                                                 MutableArrayRef<Machine> ranks) {
  auto entry = module.lookupSymbol<train::EntryOp>(name);
  if (!entry)
    return module.emitError("has no train.entry @") << name;
  SmallVector<Frame> frames;
  for (Machine &rank : ranks)
    frames.emplace_back(&rank);
  for (Operation &op : entry.getBody().front()) {
    if (std::optional<LogicalResult> done = runAcrossRanks(op, frames)) {
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
    int64_t at = 0;
    for (Value member : op.getMembers())
      for (int64_t i = 0; i < frame[member].elements(); ++i)
        flat.copyElement(at++, frame[member], i);
    return flat;
  });
  registry.add<dist::MemberOp>([](dist::MemberOp op, Frame &frame) {
    Tensor value(op.getValue());
    for (int64_t i = 0; i < value.elements(); ++i)
      value.copyElement(i, frame[op.getFlat()], int64_t(op.getOffset()) + i);
    return value;
  });
}
