// Transcendental functions as polynomials on lanes, with the same bits on every instruction set.
//
// Maximum error in ULP of the result, verified by test/unit/codegen/math_test.cpp over dense samples of the
// whole range:
//
//   function  f32   f64   arguments
//   exp       1.1   1.0   all; overflow gives infinity, underflow is gradual
//   log       1.0   1.0   all; negative gives NaN, 0 gives -infinity, subnormal arguments are exact
//   log1p     1.0   1.0   all; below -1 gives NaN, -1 gives -infinity
//   tanh      2.5   2.5   all
//   erf       2.5   4.0   all
//   sin, cos  1.6   1.6   |x| <= 1e5; beyond, the error grows with |x| / 1e5
//   softplus  3.0   3.0   all; log_sigmoid as well
//   rsqrt     1.5   1.5   all: a correctly rounded root and a correctly rounded quotient
//
// NaN gives NaN. The methods are textbook ones: argument reduction of Cody and Waite (1980), the series of
// atanh for log, erfc as e^(-x^2) times a polynomial in (x-2)/(x+2). Coefficients are Chebyshev fits computed
// with 50 digits.
#pragma once

#include "lib/Codegen/Kernels/Emitter.h"

namespace trainc::codegen {

/// Whether MathBuilder computes the op.
bool isMathFunction(mlir::Operation *op);

/// Replaces such functions under `root` by what MathBuilder builds.
llvm::LogicalResult expandMath(mlir::Operation *root);

/// Builds functions of f32 or f64 scalars or vectors.
class MathBuilder {
public:
  MathBuilder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type);

  mlir::Value exp(mlir::Value x);
  mlir::Value log(mlir::Value x);
  mlir::Value log1p(mlir::Value x);
  mlir::Value tanh(mlir::Value x);
  mlir::Value erf(mlir::Value x);
  mlir::Value sin(mlir::Value x) { return sinCos(x, 0); }
  mlir::Value cos(mlir::Value x) { return sinCos(x, 1); }
  mlir::Value rsqrt(mlir::Value x);

private:
  mlir::Value sinCos(mlir::Value x, int64_t quarterTurns);
  std::pair<mlir::Value, mlir::Value> split(mlir::Value x);
  mlir::Value logOfParts(mlir::Value k, mlir::Value f, mlir::Value rest);
  mlir::Value atLimitsOfLog(mlir::Value x, mlir::Value result);
  mlir::Value number(double value);
  mlir::Value integer(int64_t value);
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value abs(mlir::Value a);
  mlir::Value copySign(mlir::Value magnitude, mlir::Value sign);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  /// Both are false if x is NaN.
  mlir::Value below(mlir::Value x, double bound);
  mlir::Value above(mlir::Value x, double bound);
  /// Limits x to [low, high]; NaN is kept.
  mlir::Value clamp(mlir::Value x, double low, double high);
  mlir::Value bits(mlir::Value x);
  mlir::Value fromBits(mlir::Value x);
  mlir::Value addInt(mlir::Value a, mlir::Value b);
  mlir::Value subInt(mlir::Value a, mlir::Value b);
  mlir::Value shiftLeft(mlir::Value a, int64_t by);
  mlir::Value shiftRight(mlir::Value a, int64_t by);
  /// Returns 2^n for integers n with a normal result.
  mlir::Value powerOfTwo(mlir::Value n);
  /// Returns c[0] + c[1] x + ..., by Horner's rule.
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<double> coefficients);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type type, intType;
  bool wide; ///< whether the type is f64
};

} // namespace trainc::codegen
