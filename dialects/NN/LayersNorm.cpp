// Layers that normalise: nn.layer_norm and nn.rms_norm.
#include "dialects/NN/Float32.h"
#include "dialects/NN/LayerParameters.h"

#include <cmath>

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

/// x times a scale along the last dimension, `name.weight`, which starts from ones; null after an error.
static Value scaleRows(TensorBuilder &b, Value x, StringRef name, LayerScope &scope) {
  Value weight = scope.declareParameter(joinPath(name, "weight"), typeLike(x, {shapeOf(x).back()}), {"ones"});
  return weight ? b.mul(x, b.broadcastTo(weight, shapeOf(x))) : Value();
}

static LogicalResult verifyEps(Operation *op, double eps) {
  if (std::isfinite(inF32(eps)) && eps >= 0)
    return success();
  return op->emitOpError("eps must be a number of 0 or more, found ") << formatInF32(eps);
}

LogicalResult LayerNormOp::verify() { return verifyEps(*this, getEps().convertToDouble()); }

LogicalResult RmsNormOp::verify() { return verifyEps(*this, getEps().convertToDouble()); }

FailureOr<SmallVector<Value>> LayerNormOp::expand(OpBuilder &builder, ValueRange operands,
                                                  LayerScope &scope) {
  if (failed(checkFloatInput(*this, operands[0], /*rank=*/1)))
    return failure();
  TensorBuilder b(builder, getLoc());
  Value y = scaleRows(b, b.create<StandardizeOp>(operands[0], getEps()).getResult(), getName(), scope);
  if (!y)
    return failure();
  return addBias(b, y, getName(), getNoBias(), scope);
}

FailureOr<SmallVector<Value>> RmsNormOp::expand(OpBuilder &builder, ValueRange operands, LayerScope &scope) {
  if (failed(checkFloatInput(*this, operands[0], /*rank=*/1)))
    return failure();
  TensorBuilder b(builder, getLoc());
  Value y = scaleRows(b, b.create<RmsStandardizeOp>(operands[0], getEps()).getResult(), getName(), scope);
  if (!y)
    return failure();
  return SmallVector<Value>{y};
}
