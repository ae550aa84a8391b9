// Gradients of elementwise ops. Each needs the results rather than the operands where it can choose: results
// are what the next op keeps anyway.
#include "dialects/NN/Builders.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

using Cotangents = MutableArrayRef<Value>;

void NegOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  out[0] = TensorBuilder(builder, getLoc()).neg(g[0]);
}

/// The gradient at 0 is 0.
void AbsOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  Value zero = build.constantLike(getX(), 0);
  Value positive = build.select(build.compare(Predicate::gt, getX(), zero), g[0], zero);
  out[0] = build.select(build.compare(Predicate::lt, getX(), zero), build.neg(g[0]), positive);
}

void ExpOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  out[0] = TensorBuilder(builder, getLoc()).mul(g[0], getResult());
}

void LogOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  out[0] = TensorBuilder(builder, getLoc()).div(g[0], getX());
}

void SqrtOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  out[0] = build.div(build.mul(g[0], 0.5), getResult());
}

/// -1/2 r^3.
void RsqrtOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  Value cube = build.mul(build.square(getResult()), getResult());
  out[0] = build.mul(g[0], build.mul(cube, -0.5));
}

void ReciprocalOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  out[0] = build.neg(build.mul(g[0], build.square(getResult())));
}

void SinOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  out[0] = build.mul(g[0], build.create<CosOp>(getX()).getResult());
}

void CosOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  out[0] = build.neg(build.mul(g[0], build.create<SinOp>(getX()).getResult()));
}

void TanhOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  out[0] = build.mul(g[0], build.sub(1, build.square(getResult())));
}

void ErfOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  Value bell = build.exp(build.neg(build.square(getX())));
  out[0] = build.mul(g[0], build.mul(bell, 2 * std::numbers::inv_sqrtpi));
}

void SigmoidOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  out[0] = build.mul(g[0], build.mul(getResult(), build.sub(1, getResult())));
}

/// The gradient at 0 is 0; where the result is NaN the cotangent passes, as in PyTorch.
void ReluOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  Value zero = build.constantLike(g[0], 0);
  out[0] = build.select(build.compare(Predicate::le, getResult(), zero), zero, g[0]);
}

/// With s = sigmoid(x): s (1 + x (1 - s)).
void SiluOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  Value s = build.create<SigmoidOp>(getX()).getResult();
  Value slope = build.mul(s, build.add(build.mul(getX(), build.sub(1, s)), 1));
  out[0] = build.mul(g[0], slope);
}

void SquareOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  out[0] = build.mul(g[0], build.mul(getX(), 2));
}

/// Phi(x) + x phi(x), with the normal distribution's Phi and density phi.
static Value exactGeluSlope(TensorBuilder &build, Value x) {
  Value erf = build.create<ErfOp>(build.mul(x, 1 / std::numbers::sqrt2)).getResult();
  Value distribution = build.mul(build.add(erf, 1), 0.5);
  Value bell = build.exp(build.mul(build.square(x), -0.5));
  Value density = build.mul(bell, std::numbers::inv_sqrtpi / std::numbers::sqrt2);
  return build.add(distribution, build.mul(x, density));
}

/// With s = sigmoid(2u): s + x s (1 - s) 2u', u' = sqrt(2/pi) (1 + 3 * 0.044715 x^2).
static Value tanhGeluSlope(TensorBuilder &build, Value x) {
  const double twice = 2 * std::sqrt(2 / std::numbers::pi);
  Value squared = build.square(x);
  Value argument = build.mul(x, build.add(build.mul(squared, twice * 0.044715), twice));
  Value slope = build.add(build.mul(squared, twice * 3 * 0.044715), twice);
  Value s = build.create<SigmoidOp>(argument).getResult();
  Value sigmoidSlope = build.mul(s, build.sub(1, s));
  return build.add(s, build.mul(build.mul(x, slope), sigmoidSlope));
}

void GeluOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  Value slope = getApproximate() ? tanhGeluSlope(build, getX()) : exactGeluSlope(build, getX());
  out[0] = build.mul(g[0], slope);
}

void AddOp::buildVjp(OpBuilder &, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  out[0] = out[1] = g[0];
}

void SubOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool> needed, Cotangents out) {
  out[0] = g[0];
  if (needed[1])
    out[1] = TensorBuilder(builder, getLoc()).neg(g[0]);
}

void MulOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool> needed, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  if (needed[0])
    out[0] = build.mul(g[0], getRhs());
  if (needed[1])
    out[1] = build.mul(g[0], getLhs());
}

void DivOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool> needed, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  Value quotient = build.div(g[0], getRhs());
  out[0] = quotient;
  if (needed[1])
    out[1] = build.neg(build.mul(quotient, getResult()));
}

/// The operand that was chosen (`predicate` against the other) gets the cotangent; equal ones get half each,
/// as in PyTorch.
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

void MaxOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool> needed, Cotangents out) {
  buildExtremumVjp({builder, getLoc()}, Predicate::gt, getLhs(), getRhs(), g[0], needed, out);
}

void MinOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool> needed, Cotangents out) {
  buildExtremumVjp({builder, getLoc()}, Predicate::lt, getLhs(), getRhs(), g[0], needed, out);
}

void SelectOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool> needed, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  Value zero = build.constantLike(g[0], 0);
  if (needed[1])
    out[1] = build.select(getCondition(), g[0], zero);
  if (needed[2])
    out[2] = build.select(getCondition(), zero, g[0]);
}

void ConvertOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  out[0] = TensorBuilder(builder, getLoc()).convert(g[0], tensorType(getX()).getElementType());
}
