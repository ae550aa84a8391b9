// Cost of an elementwise op, determined by building its body in a temporary function.
#include "lib/Codegen/Kernels/BodyCost.h"

#include "dialects/NN/Builders.h"
#include "lib/Codegen/Kernels/Emitter.h"
#include "lib/Codegen/Kernels/MathLowering.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::codegen;

/// Instructions for rounding to bf16 or f16 and widening again.
static constexpr int64_t kRounding = 9;

static int64_t weightOf(Operation &op) {
  if (isMathFunction(&op))
    return 12;
  if (isa<math::SqrtOp, arith::DivFOp, arith::DivSIOp>(op))
    return 3;
  return isa<arith::ConstantOp>(op) ? 0 : 1;
}

BodyCost trainc::codegen::bodyCost(Operation *op) {
  BodyCost cost;
  auto elementwise = dyn_cast<ElementwiseOpInterface>(op);
  if (!elementwise)
    return cost;
  Block block;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToStart(&block);
  Location loc = builder.getUnknownLoc();
  SmallVector<Value> operands;
  for (Type type : op->getOperandTypes())
    operands.push_back(block.addArgument(nn::wideElement(getElementTypeOrSelf(type)), loc));
  auto position = [&] {
    cost.positions = true;
    return Value(block.addArgument(builder.getI64Type(), loc));
  };
  auto index = [&](unsigned) { return position(); };
  auto stream = [&](int64_t) { return Value(block.addArgument(builder.getI64Type(), loc)); };
  LaneContext scalars{loc, 0, index, position, stream};
  elementwise.buildBody(builder, operands, scalars);
  for (Operation &built : block)
    cost.weight += weightOf(built);
  Type element = getElementTypeOrSelf(op->getResult(0));
  if (nn::wideElement(element) != element && cost.weight > 0)
    cost.weight += kRounding;
  return cost;
}
