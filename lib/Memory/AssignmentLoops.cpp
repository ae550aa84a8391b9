// Assignment of the values of counted loops.
#include "lib/Memory/Assignment.h"

using namespace mlir;

namespace trainc {

/// Returns the value that an iteration yields for a result of its loop.
static Value yielded(OpResult result) {
  return result.getOwner()->getRegion(0).front().getTerminator()->getOperand(result.getResultNumber());
}

void Assignment::assignLoop(nn::ChunksOp loop) {
  for (unsigned index = 0; index < loop->getNumOperands(); ++index)
    if (!loop.isCarriedInput(index))
      assignLoopInput(loop, index);
  for (OpResult result : loop->getResults())
    loop.isCarriedResult(result.getResultNumber()) ? assignCarried(loop, result) : assignSplitResult(result);
  const auto outside = occupants_;
  enterBody(loop);
  assignBlock(loop.getBody().front());
  occupants_ = outside;
}

/// Returns the distance in bytes between the slices of consecutive iterations; 0 for a single iteration.
static int64_t stepOf(nn::ChunksOp loop, Value slice) {
  return loop.getCount() > 1 ? tensorBytes(slice.getType()) : 0;
}

/// Inputs that every iteration reads, whole or as slices, are not copied.
void Assignment::assignLoopInput(nn::ChunksOp loop, unsigned index) {
  Value input = loop.getInputs()[index];
  BlockArgument argument = loop.getBody().getArgument(index);
  if (isZero(input) && !views_.count(input)) {
    bind(input, newScratch(input));
    before_[loop].push_back({View(), views_.lookup(input), bytesOf(input)});
  }
  View view = views_.lookup(input);
  view.step = loop.getInputDims()[index] >= 0 ? stepOf(loop, argument) : 0;
  views_[argument] = view;
}

/// A carried value is updated in one buffer: that of its first value or, if that value is still needed, the
/// buffer in which the last value is wanted.
void Assignment::assignCarried(nn::ChunksOp loop, OpResult result) {
  const unsigned index = loop.getInPlaceOperand(result.getResultNumber());
  Value input = loop.getInputs()[index];
  BlockArgument argument = loop.getBody().getArgument(index);
  View view = views_.lookup(input);
  if (!mayOverwrite(result, input)) {
    view = wantedView(result);
    if (view.isNull())
      view = newScratch(result);
    if (isZero(input) || views_.lookup(input) != view)
      before_[loop].push_back({isZero(input) ? View() : views_.lookup(input), view, bytesOf(input)});
  }
  bind(result, view);
  views_[argument] = view;
  carried_.insert(argument);
  yieldViews_[yielded(result)] = view;
}

void Assignment::assignSplitResult(OpResult result) {
  View view = newScratch(result);
  bind(result, view);
  view.step = stepOf(cast<nn::ChunksOp>(result.getOwner()), yielded(result));
  yieldViews_[yielded(result)] = view;
}

/// In the body, buffers of results hold the body's own values and carried values.
void Assignment::enterBody(nn::ChunksOp loop) {
  for (OpResult result : loop->getResults())
    llvm::erase_if(occupants_[views_.lookup(result).storage],
                   [&](Value other) { return covers(views_.lookup(result), result, other); });
  for (BlockArgument argument : loop.getBody().getArguments())
    if (carried_.contains(argument))
      occupants_[views_.lookup(argument).storage].push_back(argument);
}

/// Copies yielded values that could not be computed in place. All copies are parallel, because a source may
/// be another copy's destination.
void Assignment::assignYield(Operation *yield) {
  auto loop = cast<nn::ChunksOp>(yield->getParentOp());
  SmallVector<std::pair<Move, Value>> moves;
  for (OpResult result : loop->getResults()) {
    Value value = yielded(result);
    View target = views_.lookup(result), from = isZero(value) ? View() : views_.lookup(value);
    if (!loop.isCarriedResult(result.getResultNumber()))
      target.step = stepOf(loop, value);
    if (from != target)
      moves.push_back({{from, target, bytesOf(value)}, value});
  }
  moveAtOnce(yield, moves);
}

/// A move is ordered after moves that read its destination. To break a cycle, one source is copied to scratch
/// first.
void Assignment::moveAtOnce(Operation *op, SmallVectorImpl<std::pair<Move, Value>> &moves) {
  auto readerOf = [&](std::pair<Move, Value> &writer) {
    return llvm::find_if(moves, [&](auto &other) {
      return &other != &writer &&
             overlap(writer.first.to, writer.first.bytes, other.first.from, other.first.bytes);
    });
  };
  while (!moves.empty()) {
    auto *ready = llvm::find_if(moves, [&](auto &move) { return readerOf(move) == moves.end(); });
    if (ready != moves.end()) {
      before_[op].push_back(ready->first);
      moves.erase(ready);
      continue;
    }
    const auto [blocking, value] = *readerOf(moves.front());
    const View aside = newScratch(value);
    before_[op].push_back({blocking.from, aside, blocking.bytes});
    for (auto &[move, moved] : moves)
      if (move.from == blocking.from)
        move.from = aside;
  }
}

} // namespace trainc
