// Delayed scaling as in Transformer Engine's DelayedScaling recipe, with powers of two.
#include "lib/Optimizer/OperandScales.h"

#include "dialects/Train/OperandScales.h"

using namespace mlir;
using namespace trainc;

SmallVector<Magnitudes> trainc::takeMagnitudes(train::EntryOp entry) {
  SmallVector<Magnitudes> taken;
  for (auto op : llvm::make_early_inc_range(entry.getBody().getOps<train::MagnitudesOp>())) {
    taken.push_back(
        {op.getScales().str(), op.getHistory().str(), op.getLimit().convertToDouble(), op.getLargest()});
    op.erase();
  }
  return taken;
}

static std::string accumulatorOf(const Magnitudes &magnitudes) { return "grad." + magnitudes.history; }

/// Magnitudes are non-negative, so that a step starts from 0.
SmallVector<Magnitudes> trainc::accumulateMagnitudes(train::EntryOp entry, StepSymbols &symbols) {
  SmallVector<Magnitudes> accumulated = takeMagnitudes(entry);
  for (Magnitudes &each : accumulated) {
    const std::string name = accumulatorOf(each);
    if (!symbols.state(name)) {
      train::StateOp state =
          symbols.declareState(name, train::StateRole::gradient, nn::tensorType(each.largest));
      zeroState(symbols.declareEntry(EntryKind::begin_step, state), state);
    }
    OpBuilder builder(entry.getContext());
    builder.setInsertionPointAfterValue(each.largest);
    StepBuilder build(builder, each.largest.getLoc(), symbols);
    each.largest = build.create<nn::MaxOp>(build.read(name), each.largest).getResult();
    build.write(name, each.largest);
  }
  return accumulated;
}

SmallVector<Magnitudes> trainc::readMagnitudes(StepBuilder &build, ArrayRef<Magnitudes> accumulated) {
  return llvm::map_to_vector(accumulated, [&](Magnitudes each) {
    each.largest = build.read(accumulatorOf(each));
    return each;
  });
}

Value trainc::largestOf(StepBuilder &build, const Magnitudes &magnitudes) {
  return build.reduce(nn::ReduceKind::max, magnitudes.largest, {0});
}

/// Returns the history as rows, without each row's oldest number and with this step's number appended.
static Value later(StepBuilder &build, Value history, const Magnitudes &magnitudes, int64_t count) {
  Value rows = build.reshape(history, {count, train::kMagnitudeSteps});
  Value kept = build.slice(rows, 1, 1, train::kMagnitudeSteps - 1);
  return build.concat({kept, build.reshape(magnitudes.largest, {count, 1})}, 1);
}

/// Returns the largest powers of two by which the numbers can be multiplied without exceeding the limit. They
/// are bounded so that the product of two inverses is a finite f32 number.
static Value factorsOf(StepBuilder &build, Value peaks, double limit) {
  constexpr double kMaxFactor = 0x1p60;
  Value headroom = build.div(build.constantLike(peaks, limit), peaks);
  Value factors = build.create<nn::PowerOfTwoOp>(headroom).getResult();
  Value bounded = build.create<nn::MinOp>(factors, build.constantLike(factors, kMaxFactor)).getResult();
  return build.create<nn::MaxOp>(bounded, build.constantLike(bounded, 1 / kMaxFactor)).getResult();
}

/// A scale does not change if all its magnitudes are 0.
void trainc::advanceScales(StepBuilder &build, const Magnitudes &magnitudes) {
  const int64_t count = nn::shapeOf(magnitudes.largest).front();
  Value history = build.read(magnitudes.history), old = build.read(magnitudes.scales);
  Value rows = later(build, history, magnitudes, count);
  Value peaks = build.reduce(nn::ReduceKind::max, rows, {1});
  Value scales = build.create<nn::ReciprocalOp>(factorsOf(build, peaks, magnitudes.limit)).getResult();
  auto repeated = [&](Value x) {
    return build.reshape(build.broadcastLast(x, nn::shapeOf(rows)), nn::shapeOf(old));
  };
  Value isKnown = build.compare(nn::Predicate::gt, repeated(peaks), build.constantLike(old, 0));
  Value next = build.select(isKnown, repeated(scales), old);
  build.replaceOptimizerState(magnitudes.history, history, build.reshape(rows, nn::shapeOf(history)));
  build.replaceOptimizerState(magnitudes.scales, old, next);
}
