// Elementwise ops.
#include "dialects/NN/NN.h"
#include "lib/Reference/Gelu.h"
#include "lib/Reference/Registry.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace trainc;
using namespace trainc::reference;

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

/// Returns the larger (sign 1) or smaller (sign -1) number; NaN if either is.
template <typename T> T extreme(T a, T b, int sign) {
  if (a != a || b != b)
    return std::numeric_limits<T>::quiet_NaN();
  return (sign > 0) == (a > b) ? a : b;
}

double quotient(double a, double b) { return a / b; }

/// Divides towards zero; 0 if b is 0. INT64_MIN / -1 is INT64_MIN.
int64_t quotient(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  return b == -1 ? int64_t(0 - uint64_t(a)) : a / b;
}

/// Truncates to an integer of `width` bits, saturating; 0 for NaN.
int64_t toInteger(double x, unsigned width) {
  const double beyond = std::ldexp(1.0, int(width) - 1);
  if (std::isnan(x))
    return 0;
  if (x >= beyond)
    return llvm::maxIntN(width);
  return x < -beyond ? llvm::minIntN(width) : int64_t(x);
}

/// As f32: 0 if x is subnormal.
double powerOfTwo(double x) {
  if (!std::isfinite(x))
    return std::numeric_limits<double>::infinity();
  return std::abs(x) < double(std::numeric_limits<float>::min()) ? 0 : std::ldexp(1.0, std::ilogb(x));
}

/// Applies a function to each float or integer.
template <typename F> Tensor mapUnary(Operation *op, const Tensor &x, F function) {
  Tensor result(op->getResult(0));
  for (int64_t i = 0; i < x.elements(); ++i)
    if (x.isFloat())
      result.reals[i] = function(x.reals[i]);
    else
      result.setInteger(i, int64_t(function(x.integers[i])));
  return result;
}

template <typename F> Tensor mapBinary(Operation *op, const Tensor &x, const Tensor &y, F function) {
  Tensor result(op->getResult(0));
  for (int64_t i = 0; i < x.elements(); ++i)
    if (x.isFloat())
      result.reals[i] = function(x.reals[i], y.reals[i]);
    else
      result.setInteger(i, function(x.integers[i], y.integers[i]));
  return result;
}

template <typename Op, typename F> void addUnary(Registry &registry, F function) {
  registry.add<Op>([function](Op op, Frame &frame) { return mapUnary(op, frame[op.getX()], function); });
}

template <typename Op, typename F> void addBinary(Registry &registry, F function) {
  registry.add<Op>([function](Op op, Frame &frame) {
    return mapBinary(op, frame[op.getLhs()], frame[op.getRhs()], function);
  });
}

template <typename T> bool holds(nn::Predicate predicate, T a, T b) {
  switch (predicate) {
  case nn::Predicate::eq:
    return a == b;
  case nn::Predicate::ne:
    return a != b;
  case nn::Predicate::lt:
    return a < b;
  case nn::Predicate::le:
    return a <= b;
  case nn::Predicate::gt:
    return a > b;
  case nn::Predicate::ge:
    return a >= b;
  }
  llvm_unreachable("a predicate of nn.compare");
}

Tensor compare(nn::CompareOp op, Frame &frame) {
  const Tensor &x = frame[op.getLhs()], &y = frame[op.getRhs()];
  Tensor result(op.getResult());
  for (int64_t i = 0; i < x.elements(); ++i)
    result.integers[i] = x.isFloat() ? holds(op.getPredicate(), x.reals[i], y.reals[i])
                                     : holds(op.getPredicate(), x.integers[i], y.integers[i]);
  return result;
}

Tensor choose(nn::SelectOp op, Frame &frame) {
  const Tensor &condition = frame[op.getCondition()], &x = frame[op.getLhs()], &y = frame[op.getRhs()];
  Tensor result(op.getResult());
  for (int64_t i = 0; i < x.elements(); ++i)
    result.copyElement(i, condition.integers[i] ? x : y, i);
  return result;
}

Tensor convert(nn::ConvertOp op, Frame &frame) {
  const Tensor &x = frame[op.getX()];
  Tensor result(op.getResult());
  auto to = dyn_cast<FloatType>(result.type().getElementType());
  auto from = dyn_cast<FloatType>(x.type().getElementType());
  bool narrows = to && from && to.getWidth() < from.getWidth();
  unsigned width = result.type().getElementTypeBitWidth();
  for (int64_t i = 0; i < x.elements(); ++i)
    if (!to)
      result.setInteger(i, x.isFloat() ? toInteger(x.reals[i], width) : x.integers[i]);
    else if (!from)
      result.setNumber(i, isShort(to) ? roundTo(to, x.integers[i]) : x.real(i));
    else
      result.setNumber(i, narrows ? roundTo(to, x.reals[i]) : x.reals[i]);
  return result;
}

Tensor constant(nn::ConstantOp op, Frame &) {
  Tensor result(op.getResult());
  for (int64_t i = 0; i < result.elements(); ++i)
    result.setNumber(i, op.getValue().convertToDouble());
  return result;
}

Tensor iota(nn::IotaOp op, Frame &) {
  Tensor result(op.getResult());
  int64_t dim = op.getDim() < 0 ? op.getDim() + result.rank() : op.getDim();
  forEachIndex(result.shape(),
               [&](int64_t i, ArrayRef<int64_t> index) { result.setNumber(i, double(index[dim])); });
  return result;
}

Tensor table(nn::TableOp op, Frame &) {
  Tensor result(op.getResult());
  forEachIndex(result.shape(), [&](int64_t i, ArrayRef<int64_t> index) {
    result.setNumber(i, op.getNumbers()[index[op.getDim()]]);
  });
  return result;
}

void registerUnary(Registry &registry) {
  addUnary<nn::NegOp>(registry, [](auto x) { return -x; });
  addUnary<nn::AbsOp>(registry, [](auto x) { return std::abs(x); });
  addUnary<nn::SquareOp>(registry, [](auto x) { return x * x; });
  addUnary<nn::ReluOp>(registry, [](auto x) { return x < 0 ? decltype(x)(0) : x; });
  addUnary<nn::PowerOfTwoOp>(registry, powerOfTwo);
  addUnary<nn::ExpOp>(registry, [](double x) { return std::exp(x); });
  addUnary<nn::LogOp>(registry, [](double x) { return std::log(x); });
  addUnary<nn::Log1pOp>(registry, [](double x) { return std::log1p(x); });
  addUnary<nn::SoftplusOp>(registry, softplus);
  addUnary<nn::LogSigmoidOp>(registry, [](double x) { return -softplus(-x); });
  addUnary<nn::SqrtOp>(registry, [](double x) { return std::sqrt(x); });
  addUnary<nn::RsqrtOp>(registry, [](double x) { return 1 / std::sqrt(x); });
  addUnary<nn::ReciprocalOp>(registry, [](double x) { return 1 / x; });
  addUnary<nn::SinOp>(registry, [](double x) { return std::sin(x); });
  addUnary<nn::CosOp>(registry, [](double x) { return std::cos(x); });
  addUnary<nn::TanhOp>(registry, [](double x) { return std::tanh(x); });
  addUnary<nn::ErfOp>(registry, [](double x) { return std::erf(x); });
  addUnary<nn::SigmoidOp>(registry, sigmoid);
  addUnary<nn::SiluOp>(registry, [](double x) { return x * sigmoid(x); });
  registry.add<nn::GeluOp>([](nn::GeluOp op, Frame &frame) {
    return mapUnary(op, frame[op.getX()], op.getApproximate() ? geluTanh : gelu);
  });
  registry.add<nn::GeluGradOp>([](nn::GeluGradOp op, Frame &frame) {
    Tensor slope = mapUnary(op, frame[op.getX()], op.getApproximate() ? geluTanhSlope : geluSlope);
    return mapBinary(op, frame[op.getDout()], slope, [](auto dout, auto factor) { return dout * factor; });
  });
}

void registerBinary(Registry &registry) {
  addBinary<nn::AddOp>(registry, [](auto a, auto b) { return a + b; });
  addBinary<nn::SubOp>(registry, [](auto a, auto b) { return a - b; });
  addBinary<nn::MulOp>(registry, [](auto a, auto b) { return a * b; });
  addBinary<nn::DivOp>(registry, [](auto a, auto b) { return quotient(a, b); });
  addBinary<nn::MaxOp>(registry, [](auto a, auto b) { return extreme(a, b, 1); });
  addBinary<nn::MinOp>(registry, [](auto a, auto b) { return extreme(a, b, -1); });
}

} // namespace

void trainc::reference::registerElementwise(Registry &registry) {
  registerUnary(registry);
  registerBinary(registry);
  addBinary<nn::AndOp>(registry, [](auto a, auto b) { return a != 0 && b != 0; });
  addBinary<nn::OrOp>(registry, [](auto a, auto b) { return a != 0 || b != 0; });
  addUnary<nn::NotOp>(registry, [](auto x) { return x == 0; });
  registry.add<nn::CompareOp>(compare);
  registry.add<nn::SelectOp>(choose);
  registry.add<nn::ConvertOp>(convert);
  registry.add<nn::ConstantOp>(constant);
  registry.add<nn::IotaOp>(iota);
  registry.add<nn::TableOp>(table);
}
