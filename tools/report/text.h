// The report, and a difference, for a terminal.
#pragma once

#include "tools/report/analysis.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace trainc::report {

/// A summary of about a screen. `file` is how the user called the plan.
std::string summaryText(const Analysis &analysis, std::string_view file);

/// What changed, group by group (difference.h).
std::string differenceText(const nlohmann::json &difference);

} // namespace trainc::report
