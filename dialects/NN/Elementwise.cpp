// Helpers of elementwise ops: result types, indexing, and numbers of element types.
#include "dialects/NN/Elementwise.h"
#include "dialects/NN/Builders.h"
#include "dialects/NN/Syntax.h"

#include <cmath>

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

using Inferred = FailureOr<SmallVector<Type>>;

/// Reports an error if `x` is an fp8 tensor; fp8 is for matrix products only.
static LogicalResult rejectFp8(Value x, InferError error) {
  if (isFp8(tensorType(x).getElementType()))
    return error() << "does not compute with fp8 numbers, found " << x.getType() << "; use nn.convert";
  return success();
}

Inferred nn::inferUnary(Value x, InferError error) {
  if (!isa<FloatType>(tensorType(x).getElementType()))
    return error() << "operand x must have floating-point elements, found " << x.getType();
  if (failed(rejectFp8(x, error)))
    return failure();
  return SmallVector<Type>{x.getType()};
}

LogicalResult nn::checkSameShape(StringRef nameA, Value a, StringRef nameB, Value b, InferError error) {
  ArrayRef<int64_t> shapeA = shapeOf(a), shapeB = shapeOf(b);
  if (shapeA.size() != shapeB.size())
    return error() << "operands " << nameA << " and " << nameB << " must have the same shape, found "
                   << a.getType() << " and " << b.getType();
  for (size_t dim = 0; dim < shapeA.size(); ++dim)
    if (shapeA[dim] != shapeB[dim])
      return error() << "operands " << nameA << " and " << nameB << " must have the same shape; dimension "
                     << dim << " is " << shapeA[dim] << " in " << nameA << " and " << shapeB[dim] << " in "
                     << nameB;
  return success();
}

LogicalResult nn::checkSameElement(StringRef nameA, Value a, StringRef nameB, Value b, InferError error) {
  Type elementA = tensorType(a).getElementType(), elementB = tensorType(b).getElementType();
  if (elementA != elementB)
    return error() << "operands " << nameA << " and " << nameB << " must have the same element type, found "
                   << elementA << " and " << elementB << "; use nn.convert";
  return success();
}

Inferred nn::inferBinary(Value lhs, Value rhs, InferError error) {
  if (failed(checkSameElement("lhs", lhs, "rhs", rhs, error)) ||
      failed(checkSameShape("lhs", lhs, "rhs", rhs, error)))
    return failure();
  return SmallVector<Type>{lhs.getType()};
}

Inferred nn::inferArithmetic(Value lhs, Value rhs, InferError error) {
  if (tensorType(lhs).getElementType().isInteger(1))
    return error() << "computes with numbers, found " << lhs.getType() << "; use nn.select";
  if (failed(rejectFp8(lhs, error)))
    return failure();
  return inferBinary(lhs, rhs, error);
}

Inferred nn::inferLogical(ValueRange operands, InferError error) {
  for (Value operand : operands)
    if (!tensorType(operand).getElementType().isInteger(1))
      return error() << "computes with i1, found " << operand.getType() << "; use nn.compare";
  if (failed(checkSameShape("lhs", operands.front(), "rhs", operands.back(), error)))
    return failure();
  return SmallVector<Type>{operands.front().getType()};
}

/// Returns the number in place of an operand of `op`, or null.
static FloatAttr numberOf(Operation *op) {
  return dyn_cast_or_null<FloatAttr>(op->getInherentAttr("number").value_or(Attribute()));
}

LogicalResult nn::verifyNumber(Operation *op) {
  const unsigned last = op->getNumOperands() - 1;
  const bool isFirst = op->getInherentAttr("number_first").value_or(Attribute()) != nullptr;
  FloatAttr number = numberOf(op);
  if (!number)
    return isFirst ? op->emitOpError("has 'number_first' without a number") : success();
  if (!isa<DeferredType>(op->getResult(0).getType()) || op->getOperand(last) != op->getOperand(last - 1))
    return op->emitOpError("has a number in place of an operand, which only a model's text may have");
  if (number.getValue().isNaN())
    return op->emitOpError("expected a number, found NaN");
  return success();
}

LogicalResult nn::materializeNumber(OpBuilder &builder, Operation *op) {
  FloatAttr number = numberOf(op);
  if (!number)
    return success();
  const unsigned last = op->getNumOperands() - 1;
  const bool isFirst = op->getInherentAttr("number_first").value_or(Attribute()) != nullptr;
  const Type element = tensorType(op->getOperand(last)).getElementType();
  const double value = number.getValueAsDouble();
  if (!isHeldBy(element, value))
    return op->emitOpError() << formatNumber(value) << " is not a number of " << element
                             << ", the type of the other operand";
  TensorBuilder build(builder, op->getLoc());
  op->setOperand(isFirst ? last - 1 : last, build.constant(value, RankedTensorType::get({}, element)));
  op->setInherentAttr(builder.getStringAttr("number"), {});
  op->setInherentAttr(builder.getStringAttr("number_first"), {});
  return success();
}

IndexingRule nn::elementwiseIndexing(Operation *op) {
  IndexingRule rule;
  auto labels = [](Value value) { return llvm::to_vector(llvm::seq<int>(0, shapeOf(value).size())); };
  for (Value operand : op->getOperands())
    rule.operands.push_back(labels(operand));
  rule.results.push_back(labels(op->getResult(0)));
  return rule;
}

bool nn::isHeldBy(Type element, double number) {
  if (auto type = dyn_cast<FloatType>(element)) {
    APFloat value(number);
    bool inexact = false;
    bool wasFinite = value.isFinite();
    value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
    return value.isFinite() || !wasFinite;
  }
  unsigned width = element.getIntOrFloatBitWidth();
  double minimum = width == 1 ? 0 : -std::ldexp(1, int(width) - 1),
         end = std::ldexp(1, std::max(1, int(width) - 1));
  return number >= minimum && number < end && number == std::floor(number);
}

double nn::largestNumber(FloatType type) {
  return APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
}

std::optional<double> nn::splatNumber(Attribute attribute) {
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
