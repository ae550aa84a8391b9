// The report, and a difference, as terminal text.
#pragma once

#include "tools/report/analysis.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace trainc::report {

/// A summary of about one screen. `file` is the plan's path as the user gave it.
std::string summaryText(const Analysis &analysis, std::string_view file);

/// The differences, group by group (difference.h).
std::string differenceText(const nlohmann::json &difference);

} // namespace trainc::report
