#include "runtime/log/metrics_keys.h"
#include "tools/reference/markdown.h"
#include "tools/reference/tables.h"

namespace trainc {

template <typename Metrics> static std::string tableOf(std::span<const MetricsKey<Metrics>> keys) {
  std::vector<std::vector<std::string>> rows;
  for (const MetricsKey<Metrics> &key : keys) {
    const std::string null = key.null.empty() ? "" : "`null` " + prose(key.null);
    const std::string only = key.only.empty() ? "" : "only " + prose(key.only);
    const std::string separator = null.empty() || only.empty() ? "" : "; ";
    rows.push_back({code(key.name), std::string(key.unit), prose(key.meaning), only + separator + null});
  }
  return table("key|unit|meaning|absent or unknown", rows);
}

std::string stepMetricsTable() { return tableOf(stepMetricsKeys()); }
std::string evalMetricsTable() { return tableOf(evalMetricsKeys()); }

} // namespace trainc
