// Scalar functions with identical bits on every CPU, which the C library does not guarantee.
#pragma once

namespace trainc::plain {

/// Elementary functions. Their errors are a few ULPs of f64 for exp and log, and 1e-15 for tanh and erf. NaN
/// stays NaN.
double exp(double x);
double log(double x);
double tanh(double x);
double erf(double x);

/// GELU: x/2 (1 + erf(x/sqrt 2)), or the tanh form of GPT-2: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
float gelu(float x, bool isTanh);
/// Derivative of gelu().
float geluSlope(float x, bool isTanh);

} // namespace trainc::plain
