// Simplifications of elementwise ops, and constants.
#include "dialects/NN/Builders.h"

#include "mlir/Dialect/CommonFolders.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

OpFoldResult ConstantOp::fold(FoldAdaptor) {
  auto type = cast<RankedTensorType>(getType());
  double value = getValue().convertToDouble();
  if (auto element = dyn_cast<FloatType>(type.getElementType()))
    return DenseElementsAttr::get(type, Attribute(FloatAttr::get(element, value)));
  return DenseElementsAttr::get(type, Attribute(IntegerAttr::get(type.getElementType(), int64_t(value))));
}

/// Numbers that a double does not hold exactly are not folded.
static std::optional<double> splatNumber(Attribute attribute) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(attribute);
  if (!splat)
    return std::nullopt;
  if (isa<FloatType>(splat.getElementType())) {
    APFloat value = splat.getSplatValue<APFloat>();
    bool inexact = false;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
    return value.convertToDouble();
  }
  APInt bits = splat.getSplatValue<APInt>();
  int64_t value = splat.getElementType().isInteger(1) ? int64_t(bits.getZExtValue()) : bits.getSExtValue();
  return int64_t(double(value)) == value ? std::optional(double(value)) : std::nullopt;
}

Operation *NNDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  std::optional<double> number = splatNumber(value);
  if (!number || !isa<RankedTensorType>(type))
    return nullptr;
  return ConstantOp::create(builder, loc, type, builder.getF64FloatAttr(*number), TypeAttr::get(type));
}

/// An op on two constants of one number each: floats round as their type does, integers wrap.
template <typename Function>
static OpFoldResult foldNumbers(ArrayRef<Attribute> operands, Function function) {
  if (!llvm::all_of(operands, llvm::IsaAndPresentPred<SplatElementsAttr>))
    return {};
  const bool isFloat = isa<FloatType>(cast<SplatElementsAttr>(operands.front()).getElementType());
  return isFloat ? constFoldBinaryOp<FloatAttr, APFloat, void>(operands, function)
                 : constFoldBinaryOp<IntegerAttr, APInt, void>(operands, function);
}

static APFloat quotient(const APFloat &x, const APFloat &y) { return x / y; }
/// As divideIntegers in ElementwiseBody.cpp.
static APInt quotient(const APInt &x, const APInt &y) { return y.isZero() ? y : x.sdiv(y); }

static bool isNumber(Attribute operand, double number) { return splatNumber(operand) == number; }

OpFoldResult NegOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getX().getDefiningOp<NegOp>())
    return inner.getX();
  auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getX());
  return splat ? constFoldUnaryOp<FloatAttr, FloatAttr::ValueType, void>(ArrayRef<Attribute>(splat),
                                                                         [](APFloat x) { return neg(x); })
               : Attribute();
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  if (isNumber(adaptor.getRhs(), 0))
    return getLhs();
  if (isNumber(adaptor.getLhs(), 0))
    return getRhs();
  return foldNumbers(adaptor.getOperands(), [](const auto &x, const auto &y) { return x + y; });
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  if (isNumber(adaptor.getRhs(), 0))
    return getLhs();
  return foldNumbers(adaptor.getOperands(), [](const auto &x, const auto &y) { return x - y; });
}

/// x * 0 stays: NaN and infinity must not vanish.
OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (isNumber(adaptor.getRhs(), 1))
    return getLhs();
  if (isNumber(adaptor.getLhs(), 1))
    return getRhs();
  return foldNumbers(adaptor.getOperands(), [](const auto &x, const auto &y) { return x * y; });
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  if (isNumber(adaptor.getRhs(), 1))
    return getLhs();
  return foldNumbers(adaptor.getOperands(), [](const auto &x, const auto &y) { return quotient(x, y); });
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getLhs() == getRhs() || isNumber(adaptor.getCondition(), 1))
    return getLhs();
  return isNumber(adaptor.getCondition(), 0) ? OpFoldResult(getRhs()) : OpFoldResult();
}

OpFoldResult ConvertOp::fold(FoldAdaptor adaptor) {
  if (isa<DeferredType>(getType()))
    return {};
  if (getX().getType() == getType())
    return getX();
  std::optional<double> number = splatNumber(adaptor.getX());
  auto element = dyn_cast<FloatType>(getTo());
  if (!number || !element)
    return {};
  return DenseElementsAttr::get(tensorType(getResult()), Attribute(FloatAttr::get(element, *number)));
}
