#include "tools/cases/cases.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainc::cases {

std::string stateName(std::string_view function, Part part, size_t index) {
  return fmt::format("case.{}.{}.{}", function, part == Part::kArgument ? "argument" : "result", index);
}

double errorOf(std::span<const double> actual, const ExpectedResult &expected) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (actual.size() != expected.numbers.size())
    return kInfinite;
  double largest = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    const double a = actual[i], e = expected.numbers[i];
    if (a == e || (std::isnan(a) && std::isnan(e)))
      continue;
    const double apart = std::abs(a - e) - expected.slack[i];
    const double scale = std::isfinite(e) ? std::max(std::abs(e), 1.0) : 1;
    largest = std::max(largest, std::isnan(apart) ? kInfinite : apart / scale);
  }
  return largest;
}

} // namespace trainc::cases
