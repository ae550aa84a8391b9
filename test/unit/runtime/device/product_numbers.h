// Matrix products, and their expected results from plain sums in f64.
#pragma once

#include "test/unit/runtime/device/one_call.h"

namespace trainc::test {

inline double exactGelu(double x, bool isTanh) {
  return x / 2 *
         (1 + (isTanh ? std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))
                      : std::erf(x / std::sqrt(2))));
}
inline double exactSlope(double x, bool isTanh) {
  return (exactGelu(x + 1e-5, isTanh) - exactGelu(x - 1e-5, isTanh)) / 2e-5;
}

struct ProductCase {
  const char *name;
  uint64_t m, n, k, batch = 1;
  bool transposeA = false, transposeB = false, sharesB = false, adds = false;
  uint64_t gap = 0; ///< elements between rows
  bool bias = false, auxiliary = false;
  fb::Activation activation = fb::Activation::None;
  fb::SideSum side = fb::SideSum::None;
};

inline bool isGradient(fb::Activation activation) { return activation >= fb::Activation::GeluGradient; }
inline bool isTanh(fb::Activation activation) {
  return activation == fb::Activation::GeluTanh || activation == fb::Activation::GeluTanhGradient;
}

/// A case's tensors, and the expected results.
struct ProductNumbers {
  explicit ProductNumbers(const ProductCase &c) : c(c) {
    const uint64_t aRows = c.transposeA ? c.k : c.m, aColumns = c.transposeA ? c.m : c.k,
                   bRows = c.transposeB ? c.n : c.k, bColumns = c.transposeB ? c.k : c.n;
    rowA = aColumns + c.gap;
    rowB = bColumns + c.gap;
    rowResult = c.n + c.gap;
    matrixA = c.batch > 1 ? aRows * rowA + c.gap : 0;
    matrixB = c.batch > 1 && !c.sharesB ? bRows * rowB : 0;
    matrixResult = c.batch > 1 ? c.m * rowResult : 0;
    a = randomNumbers(c.batch * (aRows * rowA + c.gap), 1);
    b = randomNumbers(c.batch * bRows * rowB, 2);
    result = randomNumbers(c.batch * c.m * rowResult, 3);
    auxiliary = randomNumbers(result.size(), 4);
    bias = randomNumbers(c.n, 5);
    side = Numbers(c.side == fb::SideSum::A ? c.m : c.n, NAN);
    compute();
  }

  double atA(uint64_t matrix, uint64_t i, uint64_t p) const {
    return a[matrix * matrixA + (c.transposeA ? p * rowA + i : i * rowA + p)];
  }
  double atB(uint64_t matrix, uint64_t p, uint64_t j) const {
    return b[matrix * matrixB + (c.transposeB ? j * rowB + p : p * rowB + j)];
  }

  void compute() {
    expected.assign(result.begin(), result.end());
    expectedAuxiliary.assign(auxiliary.begin(), auxiliary.end());
    expectedSide.assign(side.size(), 0);
    for (uint64_t matrix = 0; matrix < c.batch; ++matrix)
      for (uint64_t i = 0; i < c.m; ++i)
        for (uint64_t j = 0; j < c.n; ++j)
          computeElement(matrix, i, j, matrix * matrixResult + i * rowResult + j);
    for (uint64_t p = 0; p < c.k; ++p) {
      for (uint64_t i = 0; c.side == fb::SideSum::A && i < c.m; ++i)
        expectedSide[i] += atA(0, i, p);
      for (uint64_t j = 0; c.side == fb::SideSum::B && j < c.n; ++j)
        expectedSide[j] += atB(0, p, j);
    }
  }

  void computeElement(uint64_t matrix, uint64_t i, uint64_t j, uint64_t place) {
    double x = (c.adds ? result[place] : 0) + (c.bias ? bias[j] : 0);
    for (uint64_t p = 0; p < c.k; ++p)
      x += atA(matrix, i, p) * atB(matrix, p, j);
    if (isGradient(c.activation)) {
      x *= exactSlope(auxiliary[place], isTanh(c.activation));
    } else if (c.activation != fb::Activation::None) {
      if (c.auxiliary)
        expectedAuxiliary[place] = x;
      x = exactGelu(x, isTanh(c.activation));
    }
    expected[place] = x;
    if (c.side == fb::SideSum::Result)
      expectedSide[j] += x;
  }

  ProductCase c;
  uint64_t rowA, rowB, rowResult, matrixA, matrixB, matrixResult;
  Numbers a, b, result, auxiliary, bias, side;
  Reals expected, expectedAuxiliary, expectedSide;
};

} // namespace trainc::test
