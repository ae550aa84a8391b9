#include "Comparison.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace trainc;
using reference::Tensor;
using reference::Tensors;

static double difference(double actual, double expected) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected)))
    return 0;
  double apart = std::abs(actual - expected);
  return std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
}

double check::unitInTheLastPlace(mlir::Type element, double number) {
  if (!reference::isShort(element) || !std::isfinite(number))
    return 0;
  const llvm::fltSemantics &semantics = mlir::cast<mlir::FloatType>(element).getFloatSemantics();
  const int minimum = llvm::APFloat::semanticsMinExponent(semantics),
            digits = int(llvm::APFloat::semanticsPrecision(semantics));
  const int exponent = number == 0 ? minimum : std::max(std::ilogb(number), minimum);
  return std::ldexp(1, exponent - digits + 1);
}

double check::elementError(const Tensor &actual, const Tensor &expected, double floor) {
  double error = 0;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    const double a = actual.real(i), e = expected.real(i);
    const double larger = std::abs(a) > std::abs(e) ? a : e, scale = std::isfinite(e) ? std::abs(e) : floor;
    const double apart = difference(a, e) - unitInTheLastPlace(expected.type().getElementType(), larger);
    error = std::max(error, apart / std::max(scale, floor));
  }
  return error;
}

double check::tensorError(const Tensor &actual, const Tensor &expected, double floor) {
  double apart = 0, scale = floor;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    apart = std::max(apart, difference(actual.real(i), expected.real(i)));
    if (std::isfinite(expected.real(i)))
      scale = std::max(scale, std::abs(expected.real(i)));
  }
  return apart / scale;
}

double check::tensorError(const Tensors &actual, const Tensors &expected, double floor) {
  double error = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    error = std::max(error, tensorError(actual[i], expected[i], floor));
  return error;
}

double check::ratioToAllowedError(const Tensors &actual, const Tensors &expected, const Tensors &errors) {
  constexpr double kFloat64 = 1e-12; // rounding errors of float64 itself
  double error = 0;
  for (auto [a, e, maximum] : llvm::zip_equal(actual, expected, errors))
    for (int64_t i = 0; i < e.elements(); ++i) {
      const double apart = difference(a.real(i), e.real(i));
      const double half = unitInTheLastPlace(e.type().getElementType(), e.real(i)) / 2;
      const double allowed = (e.isFloat() ? maximum.reals[i] : 0) + half + kFloat64 * std::abs(e.real(i));
      if (apart > 0)
        error = std::max(error, std::isnan(allowed) ? HUGE_VAL : apart / allowed);
    }
  return error;
}
