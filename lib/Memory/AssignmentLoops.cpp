// Where the values of counted loops live.
#include "lib/Memory/Assignment.h"

using namespace mlir;

namespace trainc {

void Assignment::assignLoop(nn::ChunksOp loop) {
  assignLoopResults(loop, assignLoopInputs(loop));
  keepCarriedReads(loop);
  assignBlock(loop.getBody().front());
}

/// The buffer of the loop's n-th carried value, where its result is wanted.
View Assignment::carriedView(nn::ChunksOp loop, size_t index) {
  auto results = llvm::make_filter_range(
      loop->getResults(), [&](OpResult result) { return loop.isCarriedResult(result.getResultNumber()); });
  OpResult result = *std::next(results.begin(), index);
  const View wanted = wantedView(result);
  return wanted.isNull() ? newScratch(result) : wanted;
}

/// Gives the body's arguments their views, and returns those of the carried ones: the buffer in which a
/// carried value is updated.
SmallVector<View> Assignment::assignLoopInputs(nn::ChunksOp loop) {
  SmallVector<View> carried;
  for (auto [index, input] : llvm::enumerate(loop.getInputs())) {
    BlockArgument argument = loop.getBody().getArgument(index);
    if (loop.isCarriedInput(index)) {
      bool fresh = isZero(input) || !mayOverwrite(loop, input);
      View view = fresh ? carriedView(loop, carried.size()) : views_.lookup(input);
      if (fresh)
        before_[loop].push_back({isZero(input) ? View() : views_.lookup(input), view, bytesOf(input)});
      views_[argument] = view;
      carried_.insert(argument);
      carried.push_back(view);
      continue;
    }
    if (isZero(input) && !views_.count(input)) {
      bind(input, newScratch(input));
      before_[loop].push_back({View(), views_.lookup(input), bytesOf(input)});
    }
    View view = views_.lookup(input);
    view.step = loop.getInputDims()[index] >= 0 ? bytesOf(argument) : 0;
    views_[argument] = view;
  }
  return carried;
}

/// Says where the loop's results are, and so where the body wants to make what it yields.
void Assignment::assignLoopResults(nn::ChunksOp loop, ArrayRef<View> carried) {
  Operation *yield = loop.getBody().front().getTerminator();
  for (OpResult result : loop->getResults()) {
    Value yielded = yield->getOperand(result.getResultNumber());
    if (loop.isCarriedResult(result.getResultNumber())) {
      bind(result, carried.front());
      yieldViews_[yielded] = carried.front();
      carried = carried.drop_front();
      continue;
    }
    View view = newScratch(result);
    bind(result, view);
    view.step = bytesOf(yielded);
    yieldViews_[yielded] = view;
  }
}

/// A carried value must not be overwritten while the body still reads the previous one: what would do so is
/// made elsewhere, and copied.
void Assignment::keepCarriedReads(nn::ChunksOp loop) {
  Operation *yield = loop.getBody().front().getTerminator();
  for (BlockArgument argument : loop.getBody().getArguments()) {
    if (!loop.isCarriedInput(argument.getArgNumber()))
      continue;
    for (Value yielded : yield->getOperands())
      if (Operation *definition = yielded.getDefiningOp();
          definition && yieldViews_.lookup(yielded).storage == views_.lookup(argument).storage &&
          timeline_.lastUse(argument) >= timeline_.begin(definition) &&
          cast<ExecutableOpInterface>(definition)
                  .getInPlaceOperand(cast<OpResult>(yielded).getResultNumber()) < 0)
        yieldViews_.erase(yielded);
  }
}

/// Copies yielded values that could not be made in place.
void Assignment::assignYield(Operation *yield) {
  auto loop = cast<nn::ChunksOp>(yield->getParentOp());
  for (OpResult result : loop->getResults()) {
    Value yielded = yield->getOperand(result.getResultNumber());
    View target = views_.lookup(result), value = views_.lookup(yielded);
    if (!loop.isCarriedResult(result.getResultNumber()))
      target.step = bytesOf(yielded);
    if (isZero(yielded) || value.storage != target.storage)
      before_[yield].push_back({isZero(yielded) ? View() : value, target, bytesOf(yielded)});
  }
}

} // namespace trainc
