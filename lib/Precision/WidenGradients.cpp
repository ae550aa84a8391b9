// Pass `widen-gradients`: keeps gradients of parameters unrounded.
#include "lib/Precision/ElementTypes.h"
#include "lib/Precision/Passes.h"

using namespace mlir;

namespace trainc {

#define GEN_PASS_DEF_WIDENGRADIENTS
#include "lib/Precision/Passes.h.inc"

namespace {

bool keepsPrecision(Operation *op) {
  auto precision = dyn_cast_or_null<PrecisionOpInterface>(op);
  return precision && precision.getPrecisionClass() == PrecisionClass::Keep && op->getNumResults() == 1;
}

/// Returns the f32 numbers that were rounded to `value`, of a low type. If nothing else reads `value`, the op
/// that computes it gives them directly.
Value widened(Value value) {
  if (Value exact = roundedFrom(value))
    return exact;
  Operation *op = value.getDefiningOp();
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfterValue(value);
  if (value.hasOneUse() && isa<WideSumOpInterface>(op)) {
    cast<WideSumOpInterface>(op).keepSums();
  } else if (value.hasOneUse() && keepsPrecision(op)) {
    for (OpOperand &operand : op->getOpOperands())
      if (Type element = floatElement(operand.get()); element && nn::isLowPrecision(element))
        operand.set(widened(operand.get()));
    reinferTypes(op);
  } else {
    return nn::TensorBuilder(builder, value.getLoc()).convert(value, builder.getF32Type());
  }
  return value;
}

struct WidenGradients : impl::WidenGradientsBase<WidenGradients> {
  void runOnOperation() override {
    getOperation()->walk([](train::GradientOp gradient) {
      if (nn::isLowPrecision(
              floatElement(gradient.getValue()))) { // gradient of a parameter that is stored in bf16
        gradient.getValueMutable().assign(widened(gradient.getValue()));
        return;
      }
      auto convert = gradient.getValue().getDefiningOp<nn::ConvertOp>();
      if (!convert || !convert.isWidening() || !convert->hasOneUse())
        return;
      Value low = convert.getX();
      convert.getResult().replaceAllUsesWith(low); // `low` now has one use, the gradient
      convert.erase();
      gradient.getValueMutable().assign(widened(low));
    });
  }
};

} // namespace
} // namespace trainc
