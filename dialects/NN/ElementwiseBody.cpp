// Scalar computations of the other elementwise ops: two operands, choices, conversions, positions.
#include "dialects/NN/Builders.h"
#include "dialects/NN/ElementwiseLanes.h"

#include <cmath>

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

/// `FloatOp` or `IntOp`, by the operands' element type.
template <typename FloatOp, typename IntOp>
static Value buildArithmetic(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  if (isa<FloatType>(getElementTypeOrSelf(operands[0])))
    return FloatOp::create(builder, lanes.loc, operands[0], operands[1]);
  return IntOp::create(builder, lanes.loc, operands[0], operands[1]);
}

Value AddOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return buildArithmetic<arith::AddFOp, arith::AddIOp>(builder, operands, lanes);
}

Value SubOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return buildArithmetic<arith::SubFOp, arith::SubIOp>(builder, operands, lanes);
}

Value MulOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return buildArithmetic<arith::MulFOp, arith::MulIOp>(builder, operands, lanes);
}

/// x / y of integers, with a result for every y: processors trap where there is none, and lanes beyond a
/// tensor's end hold zeros.
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
  Value byZero = equals(0), byMinusOne = equals(-1); // the least integer has no opposite: it is its own
  Value divisor = select(byZero, one, select(byMinusOne, one, y));
  Value quotient = arith::DivSIOp::create(builder, lanes.loc, x, divisor);
  Value opposite = arith::SubIOp::create(builder, lanes.loc, zero, x);
  return select(byZero, zero, select(byMinusOne, opposite, quotient));
}

Value DivOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  if (isa<FloatType>(getElementTypeOrSelf(operands[0])))
    return arith::DivFOp::create(builder, lanes.loc, operands[0], operands[1]);
  return divideIntegers(builder, operands[0], operands[1], lanes);
}

Value MaxOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return buildArithmetic<arith::MaximumFOp, arith::MaxSIOp>(builder, operands, lanes);
}

Value MinOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return buildArithmetic<arith::MinimumFOp, arith::MinSIOp>(builder, operands, lanes);
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

Value CompareOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  if (isa<FloatType>(getElementTypeOrSelf(operands[0])))
    return arith::CmpFOp::create(builder, lanes.loc, floatPredicate(getPredicate()), operands[0],
                                 operands[1]);
  return arith::CmpIOp::create(builder, lanes.loc, intPredicate(getPredicate()), operands[0], operands[1]);
}

Value SelectOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return arith::SelectOp::create(builder, lanes.loc, operands[0], operands[1], operands[2]);
}

/// The nearest integer towards zero, 0 for NaN: arith has no number for what is out of range.
static Value convertToInteger(OpBuilder &builder, const LaneContext &lanes, Value x, Type to) {
  unsigned width = to.getIntOrFloatBitWidth();
  Type from = getElementTypeOrSelf(x);
  auto number = [&](double value) { return lanes.constant(builder, from, value); };
  auto select = [&](Value condition, Value a, Value b) -> Value {
    return arith::SelectOp::create(builder, lanes.loc, condition, a, b);
  };
  auto compare = [&](arith::CmpFPredicate predicate, Value bound) -> Value {
    return arith::CmpFOp::create(builder, lanes.loc, predicate, x, bound);
  };
  double beyond = std::ldexp(1, int(width) - 1);
  Value tooLarge = compare(arith::CmpFPredicate::OGE, number(beyond));
  Value tooSmall = compare(arith::CmpFPredicate::OLT, number(-beyond));
  Value inRange = compare(arith::CmpFPredicate::OLT, number(beyond)); // false for NaN
  Value safe = select(inRange, select(tooSmall, number(-beyond), x), number(0));
  Value converted = arith::FPToSIOp::create(builder, lanes.loc, lanes.type(to), safe);
  Value largest = lanes.constantInt(builder, to, APInt::getSignedMaxValue(width).getSExtValue());
  return select(tooLarge, largest, converted);
}

static Value convertFloat(OpBuilder &builder, const LaneContext &lanes, Value x, Type to) {
  Type result = lanes.type(to);
  if (!isa<FloatType>(to))
    return convertToInteger(builder, lanes, x, to);
  auto from = cast<FloatType>(getElementTypeOrSelf(x));
  if (from.getWidth() < cast<FloatType>(to).getWidth())
    return arith::ExtFOp::create(builder, lanes.loc, result, x);
  if (from.getWidth() > cast<FloatType>(to).getWidth())
    return arith::TruncFOp::create(builder, lanes.loc, result, x);
  // bf16 <-> f16 have no common cast; both fit f32.
  Value wide = arith::ExtFOp::create(builder, lanes.loc, lanes.type(builder.getF32Type()), x);
  return arith::TruncFOp::create(builder, lanes.loc, result, wide);
}

/// i1 counts as 0 and 1, wider integers are signed.
static Value convertInt(OpBuilder &builder, const LaneContext &lanes, Value x, Type to) {
  Type result = lanes.type(to);
  unsigned from = getElementTypeOrSelf(x).getIntOrFloatBitWidth();
  if (isa<FloatType>(to))
    return from == 1 ? Value(arith::UIToFPOp::create(builder, lanes.loc, result, x))
                     : Value(arith::SIToFPOp::create(builder, lanes.loc, result, x));
  if (from > to.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(builder, lanes.loc, result, x);
  return from == 1 ? Value(arith::ExtUIOp::create(builder, lanes.loc, result, x))
                   : Value(arith::ExtSIOp::create(builder, lanes.loc, result, x));
}

Value ConvertOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  Value x = operands[0];
  Type from = getElementTypeOrSelf(x);
  if (from == getTo())
    return x;
  return isa<FloatType>(from) ? convertFloat(builder, lanes, x, getTo())
                              : convertInt(builder, lanes, x, getTo());
}

Value ConstantOp::buildBody(OpBuilder &builder, ValueRange, const LaneContext &lanes) {
  Type element = tensorType(getResult()).getElementType();
  double value = getValue().convertToDouble();
  return isa<FloatType>(element) ? lanes.constant(builder, element, value)
                                 : lanes.constantInt(builder, element, int64_t(value));
}

Value IotaOp::buildBody(OpBuilder &builder, ValueRange, const LaneContext &lanes) {
  Value position = lanes.index(unsigned(getDim()));
  Type element = tensorType(getResult()).getElementType();
  return element.isInteger(64) ? position : convertInt(builder, lanes, position, element);
}
