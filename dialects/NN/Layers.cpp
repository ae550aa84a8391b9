// Layers that are a parameter, or none: nn.parameter, nn.use and nn.dropout.
#include "dialects/NN/Float32.h"
#include "dialects/NN/LayerParameters.h"
#include "dialects/NN/Syntax.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

FailureOr<SmallVector<Value>> ParameterOp::expand(OpBuilder &, ValueRange, LayerScope &scope) {
  auto type = cast<RankedTensorType>(getType());
  if (!type.hasStaticShape())
    return emitOpError("a parameter's dimensions must all be known, found ") << type;
  Initializer init = initializer(getInitAttr(), "zeros");
  bool isRandom = init.kind == "normal" || init.kind == "uniform";
  if (!isa<FloatType>(type.getElementType()) && (isRandom || !isHeldBy(type.getElementType(), init.a)))
    return emitOpError("a parameter of ") << type << " cannot start from " << init.kind << "("
                                          << formatNumber(init.a) << "), which it does not hold";
  Value value = scope.declareParameter(getName(), type, init);
  if (!value)
    return failure();
  return SmallVector<Value>{value};
}

FailureOr<SmallVector<Value>> UseOp::expand(OpBuilder &, ValueRange, LayerScope &scope) {
  Value value = scope.useParameter(getName());
  if (!value)
    return failure();
  return SmallVector<Value>{value};
}

LogicalResult DropoutOp::verify() {
  double p = getP().convertToDouble();
  if (!(p >= 0 && inF32(p) < 1))
    return emitOpError("p must be at least 0 and below 1, found ") << formatInF32(p);
  return success();
}

FailureOr<SmallVector<Value>> DropoutOp::expand(OpBuilder &builder, ValueRange operands, LayerScope &scope) {
  Value x = operands[0];
  double p = getP().convertToDouble();
  if (failed(checkFloatInput(*this, x, /*rank=*/0)))
    return failure();
  if (p == 0 || !scope.training())
    return SmallVector<Value>{x};
  FailureOr<int64_t> stream = scope.randomStream(getName());
  if (failed(stream))
    return failure();
  TensorBuilder b(builder, getLoc());
  Value uniform =
      b.create<RandomOp>(scope.seed(), scope.step(), scope.micro(), /*normal=*/false, *stream, tensorType(x));
  Value kept = b.compare(Predicate::ge, uniform, b.constantLike(x, p));
  Value factor = b.select(kept, b.constantLike(x, 1 / (1 - p)), b.constantLike(x, 0));
  return SmallVector<Value>{b.mul(x, factor)};
}
