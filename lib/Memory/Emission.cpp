#include "lib/Memory/Emission.h"

#include "lib/Analysis/HostOps.h"
#include "lib/Analysis/KernelAttributes.h"
#include "lib/Support/SourceName.h"

using namespace mlir;

namespace trainc {

namespace {

/// Dependencies are added by the pass order-streams.
const DenseI64ArrayAttr kUnordered = {};

class EntryEmitter {
public:
  EntryEmitter(OpBuilder &builder, const Assignment &assignment, ArrayRef<FlatSymbolRefAttr> buffers)
      : builder_(builder), assignment_(assignment), buffers_(buffers) {}

  LogicalResult emitBlock(Block &block);

private:
  LogicalResult emitOp(Operation &op);
  LogicalResult emitComputation(Operation &op);
  void emitLaunches(Operation &op, ArrayAttr launches);
  void emitLibraryCall(Operation &op, plan::LibraryCallSpecAttr call);
  SmallVector<View> valuesOf(Operation &op);
  LogicalResult emitLoop(Operation &op);
  void emitInput(train::InputOp input);
  void emitCollective(CollectiveOpInterface start);
  void emitMoves(ArrayRef<Move> moves, Operation &op);

  plan::OperandAttr operand(View view) {
    return plan::OperandAttr::get(builder_.getContext(), buffers_[view.storage], view.offset, view.step,
                                  view.rankStep, view.axes);
  }
  plan::OperandAttr operand(Value value) { return operand(assignment_.view(value)); }

  OpBuilder &builder_;
  const Assignment &assignment_;
  ArrayRef<FlatSymbolRefAttr> buffers_;
  plan::RangeAttr range(CollectiveOpInterface start);

  /// Starts of the current message.
  SmallVector<Operation *, 1> message_;
};

} // namespace

LogicalResult EntryEmitter::emitBlock(Block &block) {
  for (Operation &op : block)
    if (failed(emitOp(op)))
      return failure();
  return success();
}

LogicalResult EntryEmitter::emitOp(Operation &op) {
  emitMoves(assignment_.movesBefore(&op), op);
  if (auto input = dyn_cast<train::InputOp>(op)) {
    emitInput(input);
  } else if (isLoop(&op)) {
    if (failed(emitLoop(op)))
      return failure();
  } else if (isa<ExecutableOpInterface>(op)) {
    if (isCollective(&op))
      emitCollective(cast<CollectiveOpInterface>(op));
    else if (!isAlias(&op) && !isPack(&op) && failed(emitComputation(op)))
      return failure();
  }
  emitMoves(assignment_.movesAfter(&op), op);
  return success();
}

void EntryEmitter::emitMoves(ArrayRef<Move> moves, Operation &op) {
  for (const Move &move : moves) {
    if (move.from.isNull())
      plan::ZeroOp::create(builder_, op.getLoc(), operand(move.to), move.bytes, sourceName(&op), kUnordered);
    else
      plan::CopyOp::create(builder_, op.getLoc(), operand(move.from), operand(move.to), move.bytes,
                           move.stream, sourceName(&op), kUnordered);
  }
}

void EntryEmitter::emitInput(train::InputOp input) {
  View view = assignment_.view(input.getResult());
  plan::InputOp::create(builder_, input.getLoc(), input.getColumn(), buffers_[view.storage].getValue(),
                        input.getResult().getType(), input.getExtent(), input.getLimit(), input.getIgnore(),
                        input.getPads());
}

plan::RangeAttr EntryEmitter::range(CollectiveOpInterface start) {
  Value source = start->getOperand(0), destination = start->getResult(0);
  auto from = cast<RankedTensorType>(source.getType()), to = cast<RankedTensorType>(destination.getType());
  const Type element = from.getElementType(),
             into = to.getElementType() == element ? Type() : to.getElementType();
  auto sum = start->getAttrOfType<FlatSymbolRefAttr>(kRankSumAttr);
  plan::OperandAttr workspace;
  int64_t workspaceBytes = 0;
  if (sum) {
    workspace = operand(View{assignment_.scratch(start).front()});
    workspaceBytes = tensorBytes(cast<TypeAttr>(start->getAttrOfType<ArrayAttr>(kScratchAttr)[0]).getValue());
  }
  return plan::RangeAttr::get(builder_.getContext(), operand(source), operand(destination),
                              std::max(from.getNumElements(), to.getNumElements()), element, into, sum,
                              workspace, workspaceBytes);
}

/// Whether the next collective belongs to the same message.
static bool isFollowed(CollectiveOpInterface start) {
  Operation *next = start->getNextNode();
  while (next && !isCollective(next))
    next = next->getNextNode();
  return next && start.getMessageAttr() &&
         cast<CollectiveOpInterface>(next).getMessageAttr() == start.getMessageAttr();
}

/// A message is emitted at its last start. Dependencies are derived from bytes (see order-streams).
void EntryEmitter::emitCollective(CollectiveOpInterface start) {
  message_.push_back(start);
  if (isFollowed(start))
    return;
  SmallVector<Attribute> ranges;
  for (Operation *each : message_)
    ranges.push_back(range(cast<CollectiveOpInterface>(each)));
  message_.clear();
  plan::CollectiveOp::create(builder_, start.getLoc(), start.getCollectiveKind(), start.getAxesAttr(),
                             builder_.getArrayAttr(ranges), sourceName(start), kUnordered);
}

LogicalResult EntryEmitter::emitComputation(Operation &op) {
  if (auto launches = op.getAttrOfType<ArrayAttr>(kLaunchesAttr))
    emitLaunches(op, launches);
  else if (auto call = op.getAttrOfType<plan::LibraryCallSpecAttr>(kLibraryCallAttr))
    emitLibraryCall(op, call);
  else
    return op.emitOpError("has no summary of its kernels; run summarise-kernels first");
  return success();
}

/// Returns the views that argument numbers of launches and library calls refer to.
SmallVector<View> EntryEmitter::valuesOf(Operation &op) {
  SmallVector<View> values;
  for (Value value : op.getOperands())
    values.push_back(assignment_.view(value));
  for (Value value : op.getResults())
    values.push_back(assignment_.view(value));
  for (int storage : assignment_.scratch(&op))
    values.push_back({storage});
  return values;
}

void EntryEmitter::emitLaunches(Operation &op, ArrayAttr launches) {
  const SmallVector<View> values = valuesOf(op);
  for (auto launch : launches.getAsRange<plan::LaunchSpecAttr>()) {
    SmallVector<Attribute> args;
    for (int64_t index : launch.getArgs())
      args.push_back(operand(values[index]));
    plan::LaunchOp::create(builder_, op.getLoc(), launch.getKernel().getValue(), builder_.getArrayAttr(args),
                           runsOnHost(&op) ? plan::Stream::host_compute : plan::Stream::compute,
                           sourceName(&op), kUnordered);
  }
}

void EntryEmitter::emitLibraryCall(Operation &op, plan::LibraryCallSpecAttr call) {
  const SmallVector<View> values = valuesOf(op);
  call.build(builder_, op.getLoc(), sourceName(&op),
             [&](int64_t argument) { return operand(values[argument]); });
}

LogicalResult EntryEmitter::emitLoop(Operation &op) {
  auto chunks = cast<nn::ChunksOp>(op);
  auto loop = plan::LoopOp::create(builder_, op.getLoc(), chunks.getCount(), sourceName(&op), kUnordered);
  OpBuilder::InsertionGuard guard(builder_);
  builder_.createBlock(&loop.getBody());
  return emitBlock(chunks.getBody().front());
}

/// Returns the flops of a block's products and attention, including loop iterations: of recomputed ops, or of
/// all others.
static int64_t flopsOf(Block &block, bool recomputed) {
  int64_t flops = 0;
  for (Operation &op : block) {
    if (auto cost = dyn_cast<CostOpInterface>(op); cost && isRecomputed(op.getLoc()) == recomputed)
      flops += cost.getFlops();
    if (isLoop(&op))
      flops += cast<nn::ChunksOp>(op).getCount() * flopsOf(op.getRegion(0).front(), recomputed);
  }
  return flops;
}

LogicalResult emitEntry(OpBuilder &builder, train::EntryOp entry, const Assignment &assignment,
                        ArrayRef<FlatSymbolRefAttr> buffers) {
  Block &body = entry.getBody().front();
  auto planned = plan::EntryOp::create(builder, entry.getLoc(), entry.getSymName(), entry.getKind(),
                                       flopsOf(body, false), flopsOf(body, true));
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&planned.getBody());
  return EntryEmitter(builder, assignment, buffers).emitBlock(body);
}

} // namespace trainc
