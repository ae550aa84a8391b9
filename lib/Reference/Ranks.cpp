#include "lib/Reference/Ranks.h"

#include "dialects/Dist/Dist.h"
#include "lib/Reference/Registry.h"

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

static LogicalResult allReduce(dist::AllReduceStartOp op, MutableArrayRef<Frame> frames) {
  SmallVector<const Tensor *> values;
  for (Frame &frame : frames)
    values.push_back(&frame[op.getValue()]);
  if (!values.front()->isFloat())
    return op.emitOpError("sums floats, found ") << op.getValue().getType();
  Tensor sum = sumOf(values);
  for (Frame &frame : frames)
    frame.define(op.getPending(), sum);
  return success();
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
    if (auto start = dyn_cast<dist::AllReduceStartOp>(op)) {
      if (failed(allReduce(start, frames)))
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
}
