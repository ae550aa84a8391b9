// Functions of a number, of which every CPU gives the same bits: the C library's do not promise it.
#pragma once

namespace trainc::plain {

/// Within a few units in the last place of f64 for exp and log, 1e-15 for tanh and erf; NaN stays NaN.
double exp(double x);
double log(double x);
double tanh(double x);
double erf(double x);

/// x/2 (1 + erf(x/sqrt 2)), or as GPT-2 has it: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
float gelu(float x, bool isTanh);
/// Its slope.
float geluSlope(float x, bool isTanh);

} // namespace trainc::plain
