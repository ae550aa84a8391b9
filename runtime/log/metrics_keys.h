// Keys of the lines of --metrics. MetricsWriter writes them, and docs/reference/metrics.md lists them.
#pragma once

#include "runtime/log/metrics.h"

#include <span>
#include <string_view>
#include <variant>

namespace trainc {

/// A number of a line. A non-finite one is written as null.
using MetricsValue = std::variant<uint64_t, float, double>;

/// A key of the lines that `Metrics` becomes.
template <typename Metrics> struct MetricsKey {
  std::string_view name = {};
  std::string_view unit = {}; ///< empty: none
  std::string_view meaning = {};
  std::string_view null = {}; ///< condition under which the value is unknown; empty: it is known
  std::string_view only = {}; ///< condition under which a line has the key; empty: it always has
  /// Value in a line; nothing if the line does not have the key.
  std::optional<MetricsValue> (*value)(const Metrics &metrics) = nullptr;
};

/// All keys in the order in which they are written.
std::span<const MetricsKey<StepMetrics>> stepMetricsKeys();
std::span<const MetricsKey<EvalMetrics>> evalMetricsKeys();

} // namespace trainc
