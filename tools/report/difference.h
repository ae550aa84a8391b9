// What changed from one plan to another.
#pragma once

#include "tools/report/analysis.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace trainc::report {

/// {"difference": true, "from": plan, "to": plan, "sentences": [..., ...], "groups": [{"title", "unit",
/// "rows":
/// [{"what", "from", "to"}]}]}. Rows are what differs; one side is null where a plan lacks it. Units are
/// "bytes", "seconds", "count" and "text".
nlohmann::json differenceOf(const Analysis &from, std::string_view fromFile, const Analysis &to,
                            std::string_view toFile);

} // namespace trainc::report
