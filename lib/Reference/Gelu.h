// GELU and its slope in both forms, by definition.
#pragma once

#include <cmath>
#include <numbers>

namespace trainc::reference {

inline double gelu(double x) { return x / 2 * (1 + std::erf(x / std::numbers::sqrt2)); }

inline double geluSlope(double x) {
  return (1 + std::erf(x / std::numbers::sqrt2)) / 2 +
         x * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
}

inline double geluTanh(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

inline double geluTanhSlope(double x) {
  const double root = std::sqrt(2 / std::numbers::pi);
  const double t = std::tanh(root * (x + 0.044715 * x * x * x));
  return (1 + t) / 2 + x / 2 * (1 - t * t) * root * (1 + 3 * 0.044715 * x * x);
}

} // namespace trainc::reference
