#include "Comparison.h"

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

double check::elementError(const Tensor &actual, const Tensor &expected, double floor) {
  double error = 0;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    double scale = std::isfinite(expected.real(i)) ? std::abs(expected.real(i)) : floor;
    error = std::max(error, difference(actual.real(i), expected.real(i)) / std::max(scale, floor));
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
