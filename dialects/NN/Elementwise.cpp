// Result types and indexing of elementwise ops.
#include "dialects/NN/Builders.h"
#include "dialects/NN/Syntax.h"

#include <cmath>

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

using Inferred = FailureOr<SmallVector<Type>>;

static bool isFloat(RankedTensorType type) { return isa<FloatType>(type.getElementType()); }

/// Operands `a` and `b` (named for messages) must have equal shapes; says which dimension differs.
static LogicalResult checkSameShape(StringRef nameA, Value a, StringRef nameB, Value b, InferError error) {
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

static LogicalResult checkSameElement(StringRef nameA, Value a, StringRef nameB, Value b, InferError error) {
  Type elementA = tensorType(a).getElementType(), elementB = tensorType(b).getElementType();
  if (elementA != elementB)
    return error() << "operands " << nameA << " and " << nameB << " must have the same element type, found "
                   << elementA << " and " << elementB << "; use nn.convert";
  return success();
}

Inferred nn::inferUnary(Value x, InferError error) {
  if (!isFloat(tensorType(x)))
    return error() << "operand x must have floating-point elements, found " << x.getType();
  return SmallVector<Type>{x.getType()};
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
  double least = width == 1 ? 0 : -std::ldexp(1, int(width) - 1),
         beyond = std::ldexp(1, std::max(1, int(width) - 1));
  return number >= least && number < beyond && number == std::floor(number);
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
  return inferBinary(lhs, rhs, error);
}

IndexingRule nn::elementwiseIndexing(Operation *op) {
  IndexingRule rule;
  auto labels = [](Value value) { return llvm::to_vector(llvm::seq<int>(0, shapeOf(value).size())); };
  for (Value operand : op->getOperands())
    rule.operands.push_back(labels(operand));
  rule.results.push_back(labels(op->getResult(0)));
  return rule;
}

Inferred CompareOp::inferTypes(Adaptor adaptor, InferError error) {
  bool ordered = adaptor.getPredicate() != Predicate::eq && adaptor.getPredicate() != Predicate::ne;
  Inferred operand = (ordered ? inferArithmetic : inferBinary)(adaptor.getLhs(), adaptor.getRhs(), error);
  if (failed(operand))
    return failure();
  return SmallVector<Type>{
      cast<RankedTensorType>(operand->front()).clone(IntegerType::get(adaptor.getLhs().getContext(), 1))};
}

Inferred SelectOp::inferTypes(Adaptor adaptor, InferError error) {
  if (!tensorType(adaptor.getCondition()).getElementType().isInteger(1))
    return error() << "operand condition must have i1 elements, found " << adaptor.getCondition().getType();
  if (failed(checkSameShape("condition", adaptor.getCondition(), "lhs", adaptor.getLhs(), error)))
    return failure();
  return inferBinary(adaptor.getLhs(), adaptor.getRhs(), error);
}

Inferred ConvertOp::inferTypes(Adaptor adaptor, InferError error) {
  Type to = adaptor.getTo();
  if (!to.isIntOrFloat() || to.isInteger(1))
    return error() << "converts to floating-point and integer types of more than one bit, found " << to;
  return SmallVector<Type>{tensorType(adaptor.getX()).clone(to)};
}

Inferred ConstantOp::inferTypes(Adaptor adaptor, InferError error) {
  auto type = cast<RankedTensorType>(adaptor.getType());
  double value = adaptor.getValue().convertToDouble();
  if (!type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return error() << "needs a static tensor of numbers, found " << type;
  if (!isHeldBy(type.getElementType(), value))
    return error() << formatNumber(value) << " is no number of " << type.getElementType();
  return SmallVector<Type>{type};
}

/// Folding may make a NaN; people do by mistake only.
LogicalResult ConstantOp::verify() {
  if (isa<DeferredType>(getResult().getType()) && getValue().isNaN())
    return emitOpError("expected a number, found NaN");
  return success();
}

Inferred IotaOp::inferTypes(Adaptor adaptor, InferError error) {
  auto type = cast<RankedTensorType>(adaptor.getType());
  int64_t dim = adaptor.getDim();
  if (dim < 0 || dim >= type.getRank())
    return error() << "dimension " << dim << " is not one of the " << type.getRank() << " dimensions of "
                   << type;
  return SmallVector<Type>{type};
}

Inferred RandomOp::inferTypes(Adaptor adaptor, InferError error) {
  const std::pair<StringRef, Value> scalars[] = {
      {"seed", adaptor.getSeed()}, {"step", adaptor.getStep()}, {"offset", adaptor.getOffset()}};
  for (auto [name, value] : scalars)
    if (tensorType(value).getRank() != 0 || !tensorType(value).getElementType().isInteger(64))
      return error() << "operand " << name << " must be a tensor<i64>, found " << value.getType();
  auto type = cast<RankedTensorType>(adaptor.getType());
  if (!isFloat(type))
    return error() << "draws floating-point numbers, found " << type;
  return SmallVector<Type>{type};
}
