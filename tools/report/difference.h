// Differences between two plans.
#pragma once

#include "tools/report/analysis.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace trainc::report {

/// {"difference": true, "from": plan, "to": plan, "sentences": [..., ...], "groups": [{"title", "unit",
/// "rows": [{"what", "from", "to"}]}]}. Rows contain only differences; a side is null if its plan lacks the
/// row. Units are "bytes", "seconds", "count" and "text".
nlohmann::json differenceOf(const Analysis &from, std::string_view fromFile, const Analysis &to,
                            std::string_view toFile);

} // namespace trainc::report
