// Pass `round-saved`: keeps activations for the backward in the low type.
#include "lib/Analysis/ForwardOps.h"
#include "lib/Precision/ElementTypes.h"
#include "lib/Precision/Passes.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_ROUNDSAVED
#include "lib/Precision/Passes.h.inc"

/// Whether kernels can recompute the value from its low-precision operand.
static bool isWidened(Value value) {
  auto convert = value.getDefiningOp<nn::ConvertOp>();
  return convert && convert.isWidening();
}

namespace {

/// Rounds the saved values of one entry with forward and backward.
class SavedValues {
public:
  SavedValues(train::EntryOp entry, Type low) : entry(entry), forward(forwardOps(entry)), low(low) {}

  void run() {
    for (Operation &op : llvm::make_early_inc_range(entry.getBody().front())) {
      if (!forward.contains(&op) || (isa<train::InputOp>(op) && !isColumn(op)))
        continue;
      for (Value result : op.getResults())
        if (isColumn(op) || isSmall(result)) // columns are in memory anyway
          small.insert(result);
        else if (Type element = floatElement(result); element && element.isF32() && !isWidened(result))
          round(result);
    }
  }

private:
  bool isSmall(Value value) const;
  void round(Value value);

  train::EntryOp entry;
  llvm::DenseSet<Operation *> forward;
  Type low;
  llvm::DenseSet<Value> small;
};

} // namespace

/// Whether an f32 value is a statistic: an f32 result of a product or attention, or a result with fewer
/// elements than the operands of an op that needs f32. Ops of class Keep that are f32 in an f16 program
/// depend on a data column, whose numbers may exceed f16's range.
static bool isStatistic(Value value, int64_t largestOperand, Type low) {
  auto precision = value.getDefiningOp<PrecisionOpInterface>();
  if (precision && precision.getPrecisionClass() == PrecisionClass::Keep)
    return low.isF16();
  if (precision && precision.getPrecisionClass() == PrecisionClass::Low)
    return true;
  return nn::tensorType(value).getNumElements() < largestOperand;
}

/// Whether the value is a statistic, a state, a constant, or derived from such values alone.
bool SavedValues::isSmall(Value value) const {
  Operation *op = value.getDefiningOp();
  int64_t largest = 0;
  bool madeOfSmall = true;
  for (Value operand : op->getOperands()) {
    madeOfSmall &= small.contains(operand);
    largest = std::max(largest, nn::tensorType(operand).getNumElements());
  }
  Type element = floatElement(value);
  return madeOfSmall || (element && element.isF32() && isStatistic(value, largest, low));
}

/// The forward reads the exact value; only the backward reads the rounded one.
void SavedValues::round(Value value) {
  auto isBackward = [&](OpOperand &use) { return !forward.contains(use.getOwner()); };
  if (llvm::none_of(value.getUses(), isBackward))
    return;
  OpBuilder builder(entry.getContext());
  builder.setInsertionPointAfterValue(value);
  nn::TensorBuilder build(builder, value.getLoc());
  Value rounded = build.convert(value, low), wide = build.convert(rounded, floatElement(value));
  for (Value made : {rounded, wide})
    forward.insert(made.getDefiningOp());
  value.replaceUsesWithIf(wide, isBackward);
}

namespace {

struct RoundSaved : impl::RoundSavedBase<RoundSaved> {
  void runOnOperation() override {
    if (Type low = lowTypeOf(getOperation()))
      if (auto entry = findEntry<train::EntryOp>(getOperation(), EntryKind::micro_step))
        SavedValues(entry, low).run();
  }
};

} // namespace
} // namespace trainc
