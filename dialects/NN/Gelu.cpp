// nn.gelu and its gradient, both forms. The tanh form is x sigmoid(a) with a = 2 sqrt(2/pi) (x + 0.044715
// x^3), since (1 + tanh(a/2))/2 = sigmoid(a).
#include "dialects/NN/Builders.h"
#include "dialects/NN/Elementwise.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace trainc;
using namespace trainc::nn;

using Inferred = FailureOr<SmallVector<Type>>;
using Cotangents = MutableArrayRef<Value>;

/// Coefficients of a = x (kLinear + kCubic x^2).
static const double kLinear = 2 * std::sqrt(2 / std::numbers::pi), kCubic = kLinear * 0.044715;

/// Factor of e^(-x^2/2) in the density of the normal distribution.
static constexpr double kDensity = std::numbers::inv_sqrtpi / std::numbers::sqrt2;

// --- nn.gelu ---

Value GeluOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  Lanes build(builder, lanes, operands[0]);
  Value x = operands[0];
  if (!getApproximate()) {
    Value erf = build.create<math::ErfOp>(build.mul(x, 1 / std::numbers::sqrt2));
    return build.mul(build.mul(x, 0.5), build.add(build.number(1), erf));
  }
  Value polynomial = build.fma(build.mul(x, x), build.number(kCubic), build.number(kLinear));
  return build.timesSigmoid(x, build.mul(x, polynomial));
}

void GeluOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool>, Cotangents out) {
  out[0] = TensorBuilder(builder, getLoc()).create<GeluGradOp>(g[0], getX(), getApproximate()).getResult();
}

std::optional<EpilogueStep> GeluOp::getEpilogueStep(unsigned) {
  return EpilogueStep{EpilogueKind::Activation, getApproximate() ? Activation::gelu_tanh : Activation::gelu};
}

// --- nn.gelu_grad ---

Inferred GeluGradOp::inferTypes(Adaptor op, InferError error) {
  Inferred types = inferUnary(op.getX(), error);
  if (failed(types) || failed(checkSameElement("dout", op.getDout(), "x", op.getX(), error)) ||
      failed(checkSameShape("dout", op.getDout(), "x", op.getX(), error)))
    return failure();
  return types;
}

/// Returns Phi(x) + x phi(x), where Phi and phi are the normal distribution and its density.
static Value exactSlope(const Lanes &build, Value x) {
  Value erf = build.create<math::ErfOp>(build.mul(x, 1 / std::numbers::sqrt2));
  Value distribution = build.mul(build.add(erf, build.number(1)), 0.5);
  Value bell = build.exp(build.mul(build.mul(x, x), -0.5));
  return build.add(distribution, build.mul(x, build.mul(bell, kDensity)));
}

/// Returns s + x a' s (1 - s), where s = sigmoid(a).
static Value tanhSlope(const Lanes &build, Value x) {
  Value squared = build.mul(x, x);
  Value argument = build.mul(x, build.add(build.mul(squared, kCubic), build.number(kLinear)));
  Value argumentSlope = build.add(build.mul(squared, 3 * kCubic), build.number(kLinear));
  Value s = build.timesSigmoid(build.number(1), argument);
  Value sigmoidSlope = build.mul(s, build.sub(build.number(1), s));
  return build.add(s, build.mul(build.mul(x, argumentSlope), sigmoidSlope));
}

Value GeluGradOp::buildBody(OpBuilder &builder, ValueRange operands, const LaneContext &lanes) {
  Lanes build(builder, lanes, operands[0]);
  Value x = operands[1];
  return build.mul(operands[0], getApproximate() ? tanhSlope(build, x) : exactSlope(build, x));
}

std::optional<EpilogueStep> GeluGradOp::getEpilogueStep(unsigned operand) {
  if (operand != getDoutMutable().getOperandNumber())
    return std::nullopt;
  return EpilogueStep{EpilogueKind::Activation,
                      getApproximate() ? Activation::gelu_tanh_gradient : Activation::gelu_gradient, getX()};
}

/// Returns the second derivative, phi(x) (2 - x^2).
static Value exactCurvature(TensorBuilder &build, Value x) {
  Value squared = build.square(x);
  Value density = build.mul(build.exp(build.mul(squared, -0.5)), kDensity);
  return build.mul(density, build.sub(2, squared));
}

/// Returns the second derivative, s (1 - s) (2 a' + x a'' + x a'^2 (1 - 2 s)).
static Value tanhCurvature(TensorBuilder &build, Value x) {
  Value squared = build.square(x);
  Value argument = build.mul(x, build.add(build.mul(squared, kCubic), kLinear));
  Value slope = build.add(build.mul(squared, 3 * kCubic), kLinear);
  Value s = build.create<SigmoidOp>(argument).getResult();
  Value sigmoidSlope = build.mul(s, build.sub(1, s));
  Value linear = build.add(build.mul(slope, 2), build.mul(squared, 6 * kCubic));
  Value bend = build.mul(build.mul(x, build.square(slope)), build.sub(1, build.mul(s, 2)));
  return build.mul(sigmoidSlope, build.add(linear, bend));
}

void GeluGradOp::buildVjp(OpBuilder &builder, ArrayRef<Value> g, ArrayRef<bool> needed, Cotangents out) {
  TensorBuilder build(builder, getLoc());
  if (needed[0])
    out[0] = build.create<GeluGradOp>(g[0], getX(), getApproximate()).getResult();
  if (needed[1]) {
    Value curvature = getApproximate() ? tanhCurvature(build, getX()) : exactCurvature(build, getX());
    out[1] = build.mul(build.mul(g[0], getDout()), curvature);
  }
}
