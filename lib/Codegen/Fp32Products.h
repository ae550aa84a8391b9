// How matrix products of f32 numbers are computed.
#pragma once

namespace trainc {

enum class Fp32Products {
  /// Fused multiply-adds in vector registers; the same bits on every CPU.
  Fma,
  /// Each number as the exact sum of three bf16 numbers, whose six greatest products a matrix unit adds up in
  /// f32; what is left out is below 2^-25 of a product, less than its rounding to f32 (Henry, Tang and
  /// Heinecke 2019, "Leveraging the bfloat16 artificial intelligence datatype for higher-precision
  /// computations"). Needs AMX. Infinities become NaN, and numbers below 2^-109 lose digits.
  Bf16x3,
  /// Numbers rounded to 11 significant bits, products added up in f32: tensor cores of GPUs.
  Tf32
};

} // namespace trainc
