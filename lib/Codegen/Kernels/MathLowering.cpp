// Transcendental functions as polynomials on lanes.
#include "lib/Codegen/Kernels/MathLowering.h"
#include "lib/Codegen/Kernels/MathCoefficients.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace trainc::codegen;
using namespace trainc::codegen::coefficients;

MathBuilder::MathBuilder(OpBuilder &builder, Location loc, Type type)
    : builder(builder), loc(loc), type(type), wide(getElementTypeOrSelf(type).isF64()) {
  auto vector = dyn_cast<VectorType>(type);
  intType = Emitter::laneType(builder.getIntegerType(wide ? 64 : 32), vector ? vector.getNumElements() : 0);
}

// --- Short forms ---

Value MathBuilder::number(double value) { return Emitter(builder).constant(type, value); }

Value MathBuilder::integer(int64_t value) {
  auto scalar = builder.getIntegerAttr(getElementTypeOrSelf(intType), value);
  TypedAttr attribute = scalar;
  if (auto vector = dyn_cast<VectorType>(intType))
    attribute = cast<TypedAttr>(DenseElementsAttr::get(vector, Attribute(scalar)));
  return arith::ConstantOp::create(builder, loc, attribute);
}

Value MathBuilder::fma(Value a, Value b, Value c) { return math::FmaOp::create(builder, loc, a, b, c); }
Value MathBuilder::add(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b); }
Value MathBuilder::sub(Value a, Value b) { return arith::SubFOp::create(builder, loc, a, b); }
Value MathBuilder::mul(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }
Value MathBuilder::div(Value a, Value b) { return arith::DivFOp::create(builder, loc, a, b); }
Value MathBuilder::abs(Value a) { return math::AbsFOp::create(builder, loc, a); }
Value MathBuilder::copySign(Value magnitude, Value sign) {
  return math::CopySignOp::create(builder, loc, magnitude, sign);
}
Value MathBuilder::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}
Value MathBuilder::below(Value x, double bound) {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, x, number(bound));
}
Value MathBuilder::above(Value x, double bound) {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, x, number(bound));
}
Value MathBuilder::clamp(Value x, double low, double high) {
  x = select(below(x, low), number(low), x);
  return select(above(x, high), number(high), x);
}
Value MathBuilder::bits(Value x) { return arith::BitcastOp::create(builder, loc, intType, x); }
Value MathBuilder::fromBits(Value x) { return arith::BitcastOp::create(builder, loc, type, x); }
Value MathBuilder::addInt(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
Value MathBuilder::subInt(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
Value MathBuilder::shiftLeft(Value a, int64_t by) {
  return arith::ShLIOp::create(builder, loc, a, integer(by));
}
Value MathBuilder::shiftRight(Value a, int64_t by) {
  return arith::ShRSIOp::create(builder, loc, a, integer(by));
}

Value MathBuilder::powerOfTwo(Value n) {
  return fromBits(shiftLeft(addInt(n, integer(wide ? 1023 : 127)), wide ? 52 : 23));
}

Value MathBuilder::polynomial(Value x, ArrayRef<double> coefficients) {
  Value sum = number(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, number(coefficient));
  return sum;
}

// --- Functions ---

/// Adding 1.5 * 2^mantissa leaves the rounded integer in the low bits, without a conversion that NaN would
/// disturb.
static double roundingShift(bool wide) { return wide ? 0x1.8p52 : 0x1.8p23; }

/// x = n ln 2 + r; e^x = 2^n e^r, with 2^n as two factors so that the result may be subnormal. Results that
/// round to zero are computed by a factor of zero, because CPUs take about 100 cycles for an underflowing
/// product, and masked attention computes many e^-inf.
Value MathBuilder::exp(Value x) {
  const double lowest = wide ? -746 : -104;
  Value vanishes = below(x, lowest);
  x = clamp(x, lowest, wide ? 710 : 89);
  Value shift = number(roundingShift(wide));
  Value shifted = fma(x, number(kLog2e), shift);
  Value rounded = sub(shifted, shift), n = subInt(bits(shifted), bits(shift));
  Value r = fma(rounded, number(-kLn2), x);
  r = fma(rounded, number(wide ? -kLn2Low64 : -kLn2Low32), r);
  Value tail = wide ? polynomial(r, kExp64) : polynomial(r, kExp32);
  Value result = add(number(1), fma(mul(r, r), tail, r));
  Value half = shiftRight(n, 1);
  Value factor = select(vanishes, number(0), powerOfTwo(half));
  return mul(mul(result, factor), powerOfTwo(subInt(n, half)));
}

/// x = 2^k m with m in [sqrt(1/2), sqrt 2), and k. Returns m - 1 and, as a number, k.
std::pair<Value, Value> MathBuilder::split(Value x) {
  const int64_t mantissa = wide ? 52 : 23;
  Value k = shiftRight(subInt(bits(x), bits(number(kSqrtHalf))), mantissa);
  Value f = sub(fromBits(subInt(bits(x), shiftLeft(k, mantissa))), number(1));
  return {f, arith::SIToFPOp::create(builder, loc, type, k)};
}

/// k log 2 + log(1 + f) + rest, of a small rest. With s = f/(2+f), log(1 + f) = 2 atanh s = f - (f^2/2 - s
/// (f^2/2 + R(s^2))).
Value MathBuilder::logOfParts(Value k, Value f, Value rest) {
  Value s = div(f, add(f, number(2))), z = mul(s, s);
  Value series = mul(z, wide ? polynomial(z, kLog64) : polynomial(z, kLog32));
  Value halfSquare = mul(mul(f, f), number(0.5));
  Value low = mul(k, number(wide ? kLn2Low64 : kLn2Low32));
  low = fma(s, add(halfSquare, series), rest ? add(low, rest) : low);
  return fma(k, number(kLn2), sub(f, sub(halfSquare, low)));
}

/// `result`, or what a logarithm is of arguments `x` that are infinite, NaN, negative or 0.
Value MathBuilder::atLimitsOfLog(Value x, Value result) {
  const double infinity = std::numeric_limits<double>::infinity();
  Value finite = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, x, number(infinity));
  result = select(finite, result, x); // infinity and NaN
  Value zero = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, x, number(0));
  result = select(below(x, 0), number(std::numeric_limits<double>::quiet_NaN()), result);
  return select(zero, number(-infinity), result);
}

Value MathBuilder::log(Value x) {
  Value tiny = below(x, wide ? 0x1p-1022 : 0x1p-126); // no normal number
  auto [f, k] = split(select(tiny, mul(x, number(wide ? 0x1p54 : 0x1p24)), x));
  k = sub(k, select(tiny, number(wide ? 54 : 24), number(0)));
  return atLimitsOfLog(x, logOfParts(k, f, Value()));
}

/// With u = 1 + x, rounded, and c = x - (u - 1) what the rounding loses, log(1 + x) = log u + log(1 + c/u),
/// of which the second term is c/u. If u is near 1, nothing need be rounded: m - 1 is x itself. -0 stays.
Value MathBuilder::log1p(Value x) {
  Value one = number(1), u = add(x, one);
  auto [f, k] = split(u);
  auto isZero = [&](Value value) -> Value {
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, value, number(0));
  };
  Value near = isZero(k), lost = div(sub(x, sub(u, one)), u);
  Value result = logOfParts(k, select(near, x, f), select(near, number(0), lost));
  return select(isZero(x), x, atLimitsOfLog(u, result));
}

Value MathBuilder::tanh(Value x) {
  Value magnitude = abs(x), square = mul(x, x);
  Value series = wide ? polynomial(square, kTanh64) : polynomial(square, kTanh32);
  Value small = fma(mul(x, square), series, x);
  Value e = exp(add(magnitude, magnitude));
  Value large = sub(number(1), div(number(2), add(e, number(1))));
  return select(below(magnitude, 0.625), small, copySign(large, x));
}

Value MathBuilder::erf(Value x) {
  Value magnitude = abs(x), square = mul(x, x);
  Value small = mul(x, wide ? polynomial(square, kErfSmall64) : polynomial(square, kErfSmall32));
  Value a = clamp(magnitude, 0, wide ? 6 : 4);
  Value t = div(sub(a, number(2)), add(a, number(2)));
  Value scaled = wide ? polynomial(t, kErfLarge64) : polynomial(t, kErfLarge32);
  Value complement = div(mul(exp(mul(a, sub(number(0), a))), scaled), fma(a, number(2), number(1)));
  return select(below(magnitude, 1), small, copySign(sub(number(1), complement), x));
}

Value MathBuilder::rsqrt(Value x) { return div(number(1), math::SqrtOp::create(builder, loc, x)); }

/// x = n pi/2 + r, reduced in f64; n's low bits choose between sin r, cos r and their negatives.
Value MathBuilder::sinCos(Value x, int64_t quarterTurns) {
  auto vector = dyn_cast<VectorType>(type);
  Type wideType = Emitter::laneType(builder.getF64Type(), vector ? vector.getNumElements() : 0);
  MathBuilder exact(builder, loc, wideType);
  Value input = wide ? x : arith::ExtFOp::create(builder, loc, wideType, x).getResult();
  Value shift = exact.number(roundingShift(true));
  Value shifted = exact.fma(input, exact.number(kTwoOverPi), shift);
  Value n = exact.sub(shifted, shift), r = input;
  for (double part : kHalfPi)
    r = exact.fma(n, exact.number(-part), r);
  Value quadrant = exact.addInt(exact.bits(shifted), exact.integer(quarterTurns));
  if (!wide) {
    r = arith::TruncFOp::create(builder, loc, type, r);
    quadrant = arith::TruncIOp::create(builder, loc, intType, quadrant);
  }
  Value square = mul(r, r);
  Value sine = fma(mul(r, square), wide ? polynomial(square, kSin64) : polynomial(square, kSin32), r);
  Value cosineTail = wide ? polynomial(square, kCos64) : polynomial(square, kCos32);
  Value cosine = fma(mul(square, square), cosineTail, fma(square, number(-0.5), number(1)));
  auto bit = [&](int64_t which) -> Value {
    Value masked = arith::AndIOp::create(builder, loc, quadrant, integer(which));
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, masked, integer(0));
  };
  Value result = select(bit(1), cosine, sine);
  return select(bit(2), arith::NegFOp::create(builder, loc, result), result);
}
