// Elementwise ops with two operands, comparisons, logic and select.
#include "dialects/NN/Builders.h"
#include "dialects/NN/Elementwise.h"

#include "mlir/Dialect/CommonFolders.h"

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

using Inferred = FailureOr<SmallVector<Type>>;
using Cotangents = MutableArrayRef<Value>;

/// Builds `FloatOp` or `IntOp`, depending on the operands' element type.
template <typename FloatOp, typename IntOp>
static Value buildArithmetic(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  if (isa<FloatType>(getElementTypeOrSelf(operands[0])))
    return FloatOp::create(builder, lanes.loc, operands[0], operands[1]);
  return IntOp::create(builder, lanes.loc, operands[0], operands[1]);
}

/// Folds an op on two splat constants. Floats round as their type does; integers wrap.
template <typename Function>
static OpFoldResult foldNumbers(ArrayRef<Attribute> operands, Function function) {
  if (!llvm::all_of(operands, llvm::IsaAndPresentPred<SplatElementsAttr>))
    return {};
  const bool isFloat = isa<FloatType>(cast<SplatElementsAttr>(operands.front()).getElementType());
  return isFloat ? constFoldBinaryOp<FloatAttr, APFloat, void>(operands, function)
                 : constFoldBinaryOp<IntegerAttr, APInt, void>(operands, function);
}

static bool isNumber(Attribute operand, double number) { return splatNumber(operand) == number; }

Value AddOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return buildArithmetic<arith::AddFOp, arith::AddIOp>(builder, operands, lanes);
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  if (isNumber(adaptor.getRhs(), 0))
    return getLhs();
  if (isNumber(adaptor.getLhs(), 0))
    return getRhs();
  return foldNumbers(adaptor.getOperands(), [](const auto &x, const auto &y) { return x + y; });
}

/// Returns the vector that `value` repeats along all dimensions but the last; null if `value` is something
/// else.
static Value repeatedRow(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return {};
  ArrayRef<int64_t> row = shapeOf(broadcast.getX()), shape = shapeOf(value);
  return row.size() == 1 && row == shape.take_back(1) ? broadcast.getX() : Value();
}

std::optional<EpilogueStep> AddOp::getEpilogueStep(unsigned operand) {
  Value bias = repeatedRow(getOperand(1 - operand));
  return bias ? std::optional(EpilogueStep{.kind = EpilogueKind::Bias, .operand = bias}) : std::nullopt;
}

void AddOp::buildVjp(OpBuilder &, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  out[0] = out[1] = g[0];
}

Value SubOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return buildArithmetic<arith::SubFOp, arith::SubIOp>(builder, operands, lanes);
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  if (isNumber(adaptor.getRhs(), 0))
    return getLhs();
  return foldNumbers(adaptor.getOperands(), [](const auto &x, const auto &y) { return x - y; });
}

void SubOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool> needed, Cotangents out) {
  out[0] = g[0];
  if (needed[1])
    out[1] = TensorBuilder(builder, getLoc()).neg(g[0]);
}

Value MulOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return buildArithmetic<arith::MulFOp, arith::MulIOp>(builder, operands, lanes);
}

/// x * 0 is not folded, because NaN and infinity must propagate.
OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (isNumber(adaptor.getRhs(), 1))
    return getLhs();
  if (isNumber(adaptor.getLhs(), 1))
    return getRhs();
  return foldNumbers(adaptor.getOperands(), [](const auto &x, const auto &y) { return x * y; });
}

void MulOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool> needed, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  if (needed[0])
    out[0] = build.mul(g[0], getRhs());
  if (needed[1])
    out[1] = build.mul(g[0], getLhs());
}

/// Divides integers with a defined result for every divisor: 0 for y = 0, and -x for y = -1. Processors trap
/// on x / 0 and INT_MIN / -1, and lanes beyond a tensor's end hold zeros.
static Value divideIntegers(OpBuilder &builder, Value x, Value y, const LaneContext &lanes) {
  Type element = getElementTypeOrSelf(x);
  auto equals = [&](int64_t number) -> Value {
    return arith::CmpIOp::create(builder, lanes.loc, arith::CmpIPredicate::eq, y,
                                 lanes.constantInt(builder, element, number));
  };
  auto select = [&](Value condition, Value a, Value b) -> Value {
    return arith::SelectOp::create(builder, lanes.loc, condition, a, b);
  };
  Value zero = lanes.constantInt(builder, element, 0), one = lanes.constantInt(builder, element, 1);
  Value byZero = equals(0), byMinusOne = equals(-1); // -INT_MIN is INT_MIN
  Value divisor = select(byZero, one, select(byMinusOne, one, y));
  Value quotient = arith::DivSIOp::create(builder, lanes.loc, x, divisor);
  Value opposite = arith::SubIOp::create(builder, lanes.loc, zero, x);
  return select(byZero, zero, select(byMinusOne, opposite, quotient));
}

static APFloat quotient(const APFloat &x, const APFloat &y) { return x / y; }

/// Divides as divideIntegers does.
static APInt quotient(const APInt &x, const APInt &y) { return y.isZero() ? y : x.sdiv(y); }

Value DivOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  if (isa<FloatType>(getElementTypeOrSelf(operands[0])))
    return arith::DivFOp::create(builder, lanes.loc, operands[0], operands[1]);
  return divideIntegers(builder, operands[0], operands[1], lanes);
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  if (isNumber(adaptor.getRhs(), 1))
    return getLhs();
  return foldNumbers(adaptor.getOperands(), [](const auto &x, const auto &y) { return quotient(x, y); });
}

void DivOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool> needed, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  Value quotient = build.div(g[0], getRhs());
  out[0] = quotient;
  if (needed[1])
    out[1] = build.neg(build.mul(quotient, getResult()));
}

/// The chosen operand (`predicate` against the other) gets the cotangent; equal operands get half each, as in
/// PyTorch.
static void buildExtremumVjp(TensorBuilder build, Predicate predicate, Value x, Value y, Value g,
                             ArrayRef<bool> needed, Cotangents out) {
  Value zero = build.constantLike(g, 0), half = build.mul(g, 0.5);
  Value tie = build.compare(Predicate::eq, x, y);
  auto share = [&](Value mine, Value other) {
    Value won = build.select(build.compare(predicate, mine, other), g, zero);
    return build.select(tie, half, won);
  };
  if (needed[0])
    out[0] = share(x, y);
  if (needed[1])
    out[1] = share(y, x);
}

Value MaxOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return buildArithmetic<arith::MaximumFOp, arith::MaxSIOp>(builder, operands, lanes);
}

void MaxOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool> needed, Cotangents out) {
  buildExtremumVjp({builder, getLoc()}, Predicate::gt, getLhs(), getRhs(), g[0], needed, out);
}

Value MinOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return buildArithmetic<arith::MinimumFOp, arith::MinSIOp>(builder, operands, lanes);
}

void MinOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool> needed, Cotangents out) {
  buildExtremumVjp({builder, getLoc()}, Predicate::lt, getLhs(), getRhs(), g[0], needed, out);
}

static arith::CmpFPredicate floatPredicate(Predicate predicate) {
  switch (predicate) {
  case Predicate::eq:
    return arith::CmpFPredicate::OEQ;
  case Predicate::ne:
    return arith::CmpFPredicate::UNE;
  case Predicate::lt:
    return arith::CmpFPredicate::OLT;
  case Predicate::le:
    return arith::CmpFPredicate::OLE;
  case Predicate::gt:
    return arith::CmpFPredicate::OGT;
  case Predicate::ge:
    return arith::CmpFPredicate::OGE;
  }
  llvm_unreachable("unknown predicate");
}

static arith::CmpIPredicate intPredicate(Predicate predicate) {
  switch (predicate) {
  case Predicate::eq:
    return arith::CmpIPredicate::eq;
  case Predicate::ne:
    return arith::CmpIPredicate::ne;
  case Predicate::lt:
    return arith::CmpIPredicate::slt;
  case Predicate::le:
    return arith::CmpIPredicate::sle;
  case Predicate::gt:
    return arith::CmpIPredicate::sgt;
  case Predicate::ge:
    return arith::CmpIPredicate::sge;
  }
  llvm_unreachable("unknown predicate");
}

Inferred CompareOp::inferTypes(Adaptor adaptor, InferError error) {
  bool ordered = adaptor.getPredicate() != Predicate::eq && adaptor.getPredicate() != Predicate::ne;
  Inferred operand = (ordered ? inferArithmetic : inferBinary)(adaptor.getLhs(), adaptor.getRhs(), error);
  if (failed(operand))
    return failure();
  return SmallVector<Type>{
      cast<RankedTensorType>(operand->front()).clone(IntegerType::get(adaptor.getLhs().getContext(), 1))};
}

Value CompareOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  if (isa<FloatType>(getElementTypeOrSelf(operands[0])))
    return arith::CmpFOp::create(builder, lanes.loc, floatPredicate(getPredicate()), operands[0],
                                 operands[1]);
  return arith::CmpIOp::create(builder, lanes.loc, intPredicate(getPredicate()), operands[0], operands[1]);
}

Value AndOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return arith::AndIOp::create(builder, lanes.loc, operands[0], operands[1]);
}

Value OrOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return arith::OrIOp::create(builder, lanes.loc, operands[0], operands[1]);
}

Value NotOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return arith::XOrIOp::create(builder, lanes.loc, operands[0],
                               lanes.constantInt(builder, builder.getI1Type(), 1));
}

Inferred SelectOp::inferTypes(Adaptor adaptor, InferError error) {
  if (!tensorType(adaptor.getCondition()).getElementType().isInteger(1))
    return error() << "operand condition must have i1 elements, found " << adaptor.getCondition().getType();
  if (failed(checkSameShape("condition", adaptor.getCondition(), "lhs", adaptor.getLhs(), error)))
    return failure();
  return inferBinary(adaptor.getLhs(), adaptor.getRhs(), error);
}

Value SelectOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return arith::SelectOp::create(builder, lanes.loc, operands[0], operands[1], operands[2]);
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getNumber())
    return {};
  if (getLhs() == getRhs() || isNumber(adaptor.getCondition(), 1))
    return getLhs();
  return isNumber(adaptor.getCondition(), 0) ? OpFoldResult(getRhs()) : OpFoldResult();
}

void SelectOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool> needed, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  Value zero = build.constantLike(g[0], 0);
  if (needed[1])
    out[1] = build.select(getCondition(), g[0], zero);
  if (needed[2])
    out[2] = build.select(getCondition(), zero, g[0]);
}
