// Layers with a matrix as parameter: nn.linear and nn.embedding.
#include "dialects/NN/Builders.h"
#include "dialects/NN/LayerParameters.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

// --- nn.linear ---

LogicalResult LinearOp::verify() {
  if (!getFeatures() && !getTied())
    return emitOpError("needs its number of outputs (`to N`) or a weight to share (`tied \"name\"`)");
  if (getTied() && getInOut())
    return emitOpError("a tied weight is [out, in], so `layout in_out` cannot be");
  if (getTied() && getInit())
    return emitOpError("a tied weight starts where it is declared, so `init` has no effect here");
  if (getFeatures() && int64_t(*getFeatures()) < 1)
    return emitOpError("the number of outputs must be at least 1, found ") << int64_t(*getFeatures());
  return success();
}

/// The weight, [in, out] or [out, in]; checked where it is another layer's.
static Value linearWeight(LinearOp op, RankedTensorType x, LayerScope &scope) {
  int64_t in = x.getShape().back();
  if (!op.getTied()) {
    int64_t out = *op.getFeatures();
    auto shape = op.getInOut() ? std::array{in, out} : std::array{out, in};
    auto type = RankedTensorType::get(shape, x.getElementType());
    return scope.declareParameter(joinPath(op.getName(), "weight"), type,
                                  initializer(op.getInitAttr(), "normal", 0.02));
  }
  Value weight = scope.useParameter(*op.getTied());
  if (!weight)
    return {};
  auto type = tensorType(weight);
  bool fits = type.getRank() == 2 && type.getDimSize(1) == in &&
              type.getElementType() == x.getElementType() &&
              (!op.getFeatures() || type.getDimSize(0) == int64_t(*op.getFeatures()));
  if (fits)
    return weight;
  InFlightDiagnostic error = op.emitOpError() << "the tied weight '" << *op.getTied() << "' is " << type
                                              << "; the input " << x << " needs [out, " << in << "]";
  if (op.getFeatures())
    error << " with out = " << *op.getFeatures();
  return {};
}

FailureOr<SmallVector<Value>> LinearOp::expand(OpBuilder &builder, ValueRange operands, LayerScope &scope) {
  Value x = operands[0];
  if (failed(checkFloatInput(*this, x, /*rank=*/2)))
    return failure();
  Value weight = linearWeight(*this, tensorType(x), scope);
  if (!weight)
    return failure();
  SmallVector<int64_t> shape(shapeOf(x));
  shape.back() = shapeOf(weight)[getInOut() ? 1 : 0];
  if (failed(checkSizes(shape, [&] { return emitOpError(); })))
    return failure();
  TensorBuilder b(builder, getLoc());
  Value y = b.matmul(x, weight, {.transposeRhs = !getInOut()});
  return addBias(b, y, getName(), getNoBias(), scope);
}

// --- nn.embedding ---

LogicalResult EmbeddingOp::verify() {
  if (int64_t(getCount()) < 1 || int64_t(getFeatures()) < 1)
    return emitOpError("the table must have at least one row and one column, found ")
           << int64_t(getCount()) << " by " << int64_t(getFeatures());
  return success();
}

FailureOr<SmallVector<Value>> EmbeddingOp::expand(OpBuilder &builder, ValueRange operands,
                                                  LayerScope &scope) {
  Value ids = operands[0];
  Type element = tensorType(ids).getElementType();
  if (!element.isInteger(32) && !element.isInteger(64))
    return emitOpError("needs ids of i32 or i64, found ") << ids.getType();
  if (ids.getDefiningOp<PositionsOp>() && shapeOf(ids).back() > int64_t(getCount()))
    return emitOpError("sequences of ")
           << shapeOf(ids).back() << " tokens exceed the " << getCount()
           << " positions of this table; use a shorter sequence length or a larger table";
  auto type = RankedTensorType::get({int64_t(getCount()), int64_t(getFeatures())}, builder.getF32Type());
  Value table =
      scope.declareParameter(joinPath(getName(), "weight"), type, initializer(getInitAttr(), "normal", 0.02));
  SmallVector<int64_t> shape(shapeOf(ids));
  shape.push_back(int64_t(getFeatures()));
  if (!table || failed(checkSizes(shape, [&] { return emitOpError(); })))
    return failure();
  return SmallVector<Value>{GatherOp::create(builder, getLoc(), table, ids)};
}
