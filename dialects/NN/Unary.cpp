// Elementwise ops with one operand: scalar computations, gradients and simplifications. Gradients use results
// rather than operands where possible, because the next op keeps the results anyway.
#include "dialects/NN/Builders.h"
#include "dialects/NN/Elementwise.h"

#include "mlir/Dialect/CommonFolders.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

using Cotangents = MutableArrayRef<Value>;

Value NegOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return Lanes(builder, lanes, operands[0]).neg(operands[0]);
}

OpFoldResult NegOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getX().getDefiningOp<NegOp>())
    return inner.getX();
  auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getX());
  return splat ? constFoldUnaryOp<FloatAttr, FloatAttr::ValueType, void>(ArrayRef<Attribute>(splat),
                                                                         [](APFloat x) { return neg(x); })
               : Attribute();
}

void NegOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  out[0] = TensorBuilder(builder, getLoc()).neg(g[0]);
}

Value AbsOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return Lanes(builder, lanes, operands[0]).create<math::AbsFOp>(operands[0]);
}

/// The gradient at 0 is 0, as in PyTorch.
void AbsOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  Value zero = build.constantLike(getX(), 0);
  Value positive = build.select(build.compare(Predicate::gt, getX(), zero), g[0], zero);
  out[0] = build.select(build.compare(Predicate::lt, getX(), zero), build.neg(g[0]), positive);
}

FailureOr<SmallVector<Type>> PowerOfTwoOp::inferTypes(Adaptor adaptor, InferError error) {
  if (!tensorType(adaptor.getX()).getElementType().isF32())
    return error() << "operand x must have elements of f32, found " << adaptor.getX().getType();
  return SmallVector<Type>{adaptor.getX().getType()};
}

Value PowerOfTwoOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  constexpr int64_t kExponent = 0x7f800000;
  const Type bitsType = builder.getI32Type();
  Value bits = arith::BitcastOp::create(builder, lanes.loc, lanes.type(bitsType), operands[0]);
  Value exponent =
      arith::AndIOp::create(builder, lanes.loc, bits, lanes.constantInt(builder, bitsType, kExponent));
  return arith::BitcastOp::create(builder, lanes.loc, operands[0].getType(), exponent);
}

Value ExpOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return Lanes(builder, lanes, operands[0]).exp(operands[0]);
}

void ExpOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  out[0] = TensorBuilder(builder, getLoc()).mul(g[0], getResult());
}

Value LogOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return Lanes(builder, lanes, operands[0]).create<math::LogOp>(operands[0]);
}

void LogOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  out[0] = TensorBuilder(builder, getLoc()).div(g[0], getX());
}

Value Log1pOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return Lanes(builder, lanes, operands[0]).create<math::Log1pOp>(operands[0]);
}

void Log1pOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  out[0] = build.div(g[0], build.add(getX(), 1));
}

Value SqrtOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return Lanes(builder, lanes, operands[0]).create<math::SqrtOp>(operands[0]);
}

void SqrtOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  out[0] = build.div(build.mul(g[0], 0.5), getResult());
}

/// sqrt and division are correctly rounded; an approximate reciprocal root is not.
Value RsqrtOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  Lanes build(builder, lanes, operands[0]);
  return build.div(build.number(1), build.create<math::SqrtOp>(operands[0]));
}

/// The slope is -1/2 r^3.
void RsqrtOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  Value cube = build.mul(build.square(getResult()), getResult());
  out[0] = build.mul(g[0], build.mul(cube, -0.5));
}

Value ReciprocalOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  Lanes build(builder, lanes, operands[0]);
  return build.div(build.number(1), operands[0]);
}

void ReciprocalOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  out[0] = build.neg(build.mul(g[0], build.square(getResult())));
}

Value SinOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return Lanes(builder, lanes, operands[0]).create<math::SinOp>(operands[0]);
}

void SinOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  out[0] = build.mul(g[0], build.create<CosOp>(getX()).getResult());
}

Value CosOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return Lanes(builder, lanes, operands[0]).create<math::CosOp>(operands[0]);
}

void CosOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  out[0] = build.neg(build.mul(g[0], build.create<SinOp>(getX()).getResult()));
}

Value TanhOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return Lanes(builder, lanes, operands[0]).create<math::TanhOp>(operands[0]);
}

void TanhOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  out[0] = build.mul(g[0], build.sub(1, build.square(getResult())));
}

Value ErfOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return Lanes(builder, lanes, operands[0]).create<math::ErfOp>(operands[0]);
}

void ErfOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  Value bell = build.exp(build.neg(build.square(getX())));
  out[0] = build.mul(g[0], build.mul(bell, 2 * std::numbers::inv_sqrtpi));
}

Value SigmoidOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  Lanes build(builder, lanes, operands[0]);
  return build.timesSigmoid(build.number(1), operands[0]);
}

void SigmoidOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  out[0] = build.mul(g[0], build.mul(getResult(), build.sub(1, getResult())));
}

/// max(x, 0) + log(1 + e^-|x|), which neither overflows nor cancels.
static Value softplus(const Lanes &build, Value x) {
  Value positive = build.create<arith::CmpFOp>(arith::CmpFPredicate::OGT, x, build.number(0));
  Value decay = build.exp(build.neg(build.create<math::AbsFOp>(x))); // NaN if x is
  return build.add(build.create<arith::SelectOp>(positive, x, build.number(0)),
                   build.create<math::Log1pOp>(decay));
}

Value SoftplusOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return softplus(Lanes(builder, lanes, operands[0]), operands[0]);
}

void SoftplusOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  out[0] = build.mul(g[0], build.create<SigmoidOp>(getX()).getResult());
}

Value LogSigmoidOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  Lanes build(builder, lanes, operands[0]);
  return build.neg(softplus(build, build.neg(operands[0])));
}

void LogSigmoidOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  out[0] = build.mul(g[0], build.create<SigmoidOp>(build.neg(getX())).getResult());
}

/// The comparison is unordered, so that NaN propagates.
Value ReluOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  Lanes build(builder, lanes, operands[0]);
  Value zero = build.number(0);
  Value positive = build.create<arith::CmpFOp>(arith::CmpFPredicate::UGT, operands[0], zero);
  return build.create<arith::SelectOp>(positive, operands[0], zero);
}

/// The gradient at 0 is 0. If the result is NaN the cotangent passes, as in PyTorch.
void ReluOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  Value zero = build.constantLike(g[0], 0);
  out[0] = build.select(build.compare(Predicate::le, getResult(), zero), zero, g[0]);
}

Value SiluOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return Lanes(builder, lanes, operands[0]).timesSigmoid(operands[0], operands[0]);
}

/// The slope is s (1 + x (1 - s)), where s = sigmoid(x).
void SiluOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  Value s = build.create<SigmoidOp>(getX()).getResult();
  Value slope = build.mul(s, build.add(build.mul(getX(), build.sub(1, s)), 1));
  out[0] = build.mul(g[0], slope);
}

Value SquareOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  return Lanes(builder, lanes, operands[0]).mul(operands[0], operands[0]);
}

void SquareOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  out[0] = build.mul(g[0], build.mul(getX(), 2));
}
