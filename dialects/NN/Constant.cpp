// nn.constant, nn.iota and nn.table.
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
    return error() << formatNumber(value) << " is not a number of " << type.getElementType();
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

Inferred TableOp::inferTypes(Adaptor adaptor, InferError error) {
  auto type = cast<RankedTensorType>(adaptor.getType());
  const int64_t dim = adaptor.getDim(), count = int64_t(adaptor.getNumbers().size());
  if (dim < 0 || dim >= type.getRank() || type.getDimSize(dim) != count)
    return error() << count << " numbers are not dimension " << dim << " of " << type;
  if (!isa<FloatType>(type.getElementType()))
    return error() << "expected a tensor of floating-point numbers, found " << type;
  return SmallVector<Type>{type};
}

/// Selects by the bits of the position, the lowest first.
Value TableOp::buildBody(OpBuilder &builder, ValueRange, const LaneContext &lanes) {
  const Type i32 = builder.getI32Type();
  Value position = convertInt(builder, lanes, lanes.index(unsigned(getDim())), i32);
  SmallVector<Value> numbers;
  for (double number : getNumbers())
    numbers.push_back(lanes.constant(builder, wideElement(tensorType(getResult()).getElementType()), number));
  for (int64_t bit = 1; numbers.size() > 1; bit *= 2) {
    Value masked = arith::AndIOp::create(builder, lanes.loc, position, lanes.constantInt(builder, i32, bit));
    Value isOdd = arith::CmpIOp::create(builder, lanes.loc, arith::CmpIPredicate::ne, masked,
                                        lanes.constantInt(builder, i32, 0));
    SmallVector<Value> chosen;
    for (size_t i = 0; i < numbers.size(); i += 2)
      chosen.push_back(
          i + 1 == numbers.size()
              ? numbers[i]
              : arith::SelectOp::create(builder, lanes.loc, isOdd, numbers[i + 1], numbers[i]).getResult());
    numbers = std::move(chosen);
  }
  return numbers.front();
}
