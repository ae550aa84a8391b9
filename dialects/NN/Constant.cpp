// nn.constant and nn.iota.
#include "dialects/NN/Builders.h"
#include "dialects/NN/Elementwise.h"
#include "dialects/NN/Syntax.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

using Inferred = FailureOr<SmallVector<Type>>;

Inferred ConstantOp::inferTypes(Adaptor adaptor, InferError error) {
  auto type = cast<RankedTensorType>(adaptor.getType());
  double value = adaptor.getValue().convertToDouble();
  if (!type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return error() << "needs a static tensor of numbers, found " << type;
  if (!isHeldBy(type.getElementType(), value))
    return error() << formatNumber(value) << " is no number of " << type.getElementType();
  return SmallVector<Type>{type};
}

/// Folding can produce NaN; in a model's text NaN is a mistake.
LogicalResult ConstantOp::verify() {
  if (isa<DeferredType>(getResult().getType()) && getValue().isNaN())
    return emitOpError("expected a number, found NaN");
  return success();
}

Value ConstantOp::buildBody(OpBuilder &builder, ValueRange, const LaneContext &lanes) {
  Type element = tensorType(getResult()).getElementType();
  double value = getValue().convertToDouble();
  return isa<FloatType>(element) ? lanes.constant(builder, element, value)
                                 : lanes.constantInt(builder, element, int64_t(value));
}

OpFoldResult ConstantOp::fold(FoldAdaptor) {
  auto type = cast<RankedTensorType>(getType());
  double value = getValue().convertToDouble();
  if (auto element = dyn_cast<FloatType>(type.getElementType()))
    return DenseElementsAttr::get(type, Attribute(FloatAttr::get(element, value)));
  return DenseElementsAttr::get(type, Attribute(IntegerAttr::get(type.getElementType(), int64_t(value))));
}

Operation *NNDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  std::optional<double> number = splatNumber(value);
  if (!number || !isa<RankedTensorType>(type))
    return nullptr;
  return ConstantOp::create(builder, loc, type, builder.getF64FloatAttr(*number), TypeAttr::get(type));
}

Inferred IotaOp::inferTypes(Adaptor adaptor, InferError error) {
  auto type = cast<RankedTensorType>(adaptor.getType());
  int64_t dim = adaptor.getDim();
  if (dim < 0 || dim >= type.getRank())
    return error() << "dimension " << dim << " is not one of the " << type.getRank() << " dimensions of "
                   << type;
  return SmallVector<Type>{type};
}

Value IotaOp::buildBody(OpBuilder &builder, ValueRange, const LaneContext &lanes) {
  Value position = lanes.index(unsigned(getDim()));
  Type element = tensorType(getResult()).getElementType();
  return element.isInteger(64) ? position : convertInt(builder, lanes, position, element);
}
