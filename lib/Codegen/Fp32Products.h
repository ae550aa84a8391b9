// Arithmetic of f32 matrix products.
#pragma once

namespace trainc {

enum class Fp32Products {
  /// Fused multiply-adds in vector registers; the same bits on every CPU.
  Fma,
  /// Each number is the exact sum of three bf16 numbers. A matrix unit sums their six largest products in
  /// f32; the omitted products are below 2^-25 of the result, less than its rounding to f32 (Henry, Tang and
  /// Heinecke 2019, "Leveraging the bfloat16 artificial intelligence datatype for higher-precision
  /// computations"). Needs AMX. Infinities become NaN, and numbers below 2^-109 lose digits.
  Bf16x3,
  /// Factors rounded to 11 significant bits, products summed in f32: tensor cores of GPUs.
  Tf32
};

} // namespace trainc
