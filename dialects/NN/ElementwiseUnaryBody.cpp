// Scalar computations of elementwise ops of one operand.
#include "dialects/NN/ElementwiseLanes.h"
#include "dialects/NN/NN.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

Value NegOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return Lanes(builder, lanes, operands[0]).neg(operands[0]);
}

Value AbsOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return Lanes(builder, lanes, operands[0]).create<math::AbsFOp>(operands[0]);
}

Value ExpOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return Lanes(builder, lanes, operands[0]).exp(operands[0]);
}

Value LogOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return Lanes(builder, lanes, operands[0]).create<math::LogOp>(operands[0]);
}

Value SqrtOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return Lanes(builder, lanes, operands[0]).create<math::SqrtOp>(operands[0]);
}

/// Square root and division are both correctly rounded, an approximate reciprocal root is not.
Value RsqrtOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  Lanes build(builder, lanes, operands[0]);
  return build.div(build.number(1), build.create<math::SqrtOp>(operands[0]));
}

Value ReciprocalOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  Lanes build(builder, lanes, operands[0]);
  return build.div(build.number(1), operands[0]);
}

Value SinOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return Lanes(builder, lanes, operands[0]).create<math::SinOp>(operands[0]);
}

Value CosOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return Lanes(builder, lanes, operands[0]).create<math::CosOp>(operands[0]);
}

Value TanhOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return Lanes(builder, lanes, operands[0]).create<math::TanhOp>(operands[0]);
}

Value ErfOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return Lanes(builder, lanes, operands[0]).create<math::ErfOp>(operands[0]);
}

Value SigmoidOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  Lanes build(builder, lanes, operands[0]);
  return build.timesSigmoid(build.number(1), operands[0]);
}

/// Unordered comparison, so that NaN is chosen over 0.
Value ReluOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  Lanes build(builder, lanes, operands[0]);
  Value zero = build.number(0);
  Value positive = build.create<arith::CmpFOp>(arith::CmpFPredicate::UGT, operands[0], zero);
  return build.create<arith::SelectOp>(positive, operands[0], zero);
}

Value SiluOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return Lanes(builder, lanes, operands[0]).timesSigmoid(operands[0], operands[0]);
}

Value SquareOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return Lanes(builder, lanes, operands[0]).mul(operands[0], operands[0]);
}

/// The tanh form is x sigmoid(2u) with u = sqrt(2/pi) (x + 0.044715 x^3), since (1 + tanh u)/2 = sigmoid(2u).
Value GeluOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  Lanes build(builder, lanes, operands[0]);
  Value x = operands[0];
  if (!getApproximate()) {
    Value erf = build.create<math::ErfOp>(build.mul(x, 1 / std::numbers::sqrt2));
    return build.mul(build.mul(x, 0.5), build.add(build.number(1), erf));
  }
  const double twice = 2 * std::sqrt(2 / std::numbers::pi);
  Value polynomial = build.fma(build.mul(x, x), build.number(twice * 0.044715), build.number(twice));
  return build.timesSigmoid(x, build.mul(x, polynomial));
}
