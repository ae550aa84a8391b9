#include "lib/Memory/LoopValues.h"

#include "lib/Analysis/Preconditions.h"
#include "lib/Analysis/RowPadding.h"

using namespace mlir;

namespace trainc {

/// Returns the value that an iteration yields for a result of its loop.
static Value yielded(OpResult result) {
  return result.getOwner()->getRegion(0).front().getTerminator()->getOperand(result.getResultNumber());
}

/// Returns the distance in bytes between the slices of consecutive iterations; 0 for a single iteration.
static int64_t stepOf(nn::ChunksOp loop, Value slice) {
  return loop.getCount() > 1 ? tensorBytes(slice.getType()) : 0;
}

void LoopValues::assign(nn::ChunksOp loop) {
  for (unsigned index = 0; index < loop->getNumOperands(); ++index)
    if (!loop.isCarriedInput(index))
      assignInput(loop, index);
  for (OpResult result : loop->getResults())
    loop.isCarriedResult(result.getResultNumber()) ? assignCarried(loop, result) : assignSplitResult(result);
}

/// Inputs that every iteration reads, whole or as slices, are not copied.
void LoopValues::assignInput(nn::ChunksOp loop, unsigned index) {
  Value input = loop.getInputs()[index];
  BlockArgument argument = loop.getBody().getArgument(index);
  if (isZero(input))
    occupancy_.makeZero(loop, input);
  View view = assignment_.view(input);
  view.step = loop.getInputDims()[index] >= 0 ? stepOf(loop, argument) : 0;
  assignment_.setView(argument, view);
}

/// A carried value is updated in one buffer: that of its first value or, if that value is still needed, the
/// buffer in which the last value is wanted.
void LoopValues::assignCarried(nn::ChunksOp loop, OpResult result) {
  const unsigned index = loop.getInPlaceOperand(result.getResultNumber());
  Value input = loop.getInputs()[index];
  const View first = isZero(input) ? View() : assignment_.view(input);
  View view = first;
  if (!occupancy_.mayOverwrite(result, input)) {
    view = wanted_.orScratch(result);
    if (first != view)
      assignment_.moveBefore(loop, {first, view, paddedBytes(input)});
  }
  occupancy_.bind(result, view);
  occupancy_.bindCarried(loop.getBody().getArgument(index), view);
  wanted_.setYielded(yielded(result), view);
}

void LoopValues::assignSplitResult(OpResult result) {
  View view = assignment_.newScratch(result);
  occupancy_.bind(result, view);
  view.step = stepOf(cast<nn::ChunksOp>(result.getOwner()), yielded(result));
  wanted_.setYielded(yielded(result), view);
}

/// All copies are parallel, because a source may be another copy's destination.
void LoopValues::assignYield(Operation *yield) {
  auto loop = cast<nn::ChunksOp>(yield->getParentOp());
  SmallVector<std::pair<Move, Value>> moves;
  for (OpResult result : loop->getResults()) {
    Value value = yielded(result);
    View target = assignment_.view(result), from = isZero(value) ? View() : assignment_.view(value);
    if (!loop.isCarriedResult(result.getResultNumber()))
      target.step = stepOf(loop, value);
    if (from != target)
      moves.push_back({{from, target, paddedBytes(value)}, value});
  }
  moveAtOnce(yield, moves);
}

/// A move is ordered after moves that read its destination. To break a cycle, one source is copied to scratch
/// first.
void LoopValues::moveAtOnce(Operation *op, SmallVectorImpl<std::pair<Move, Value>> &moves) {
  auto readerOf = [&](std::pair<Move, Value> &writer) {
    return llvm::find_if(moves, [&](auto &other) {
      return &other != &writer &&
             overlap(writer.first.to, writer.first.bytes, other.first.from, other.first.bytes);
    });
  };
  while (!moves.empty()) {
    auto *ready = llvm::find_if(moves, [&](auto &move) { return readerOf(move) == moves.end(); });
    if (ready != moves.end()) {
      assignment_.moveBefore(op, ready->first);
      moves.erase(ready);
      continue;
    }
    const auto [blocking, value] = *readerOf(moves.front());
    const View aside = assignment_.newScratch(value);
    assignment_.moveBefore(op, {blocking.from, aside, blocking.bytes});
    for (auto &[move, moved] : moves)
      if (move.from == blocking.from)
        move.from = aside;
  }
}

} // namespace trainc
