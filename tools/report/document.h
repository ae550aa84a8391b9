// The report as JSON: what `trainc report --json` prints, and what the page is drawn from.
#pragma once

#include "tools/report/analysis.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace trainc::report {

/// docs/reference/report-json.md lists its keys. `file` is how the user called the plan.
nlohmann::json documentOf(const Analysis &analysis, std::string_view file);

/// The text of a document: UTF-8, other bytes replaced.
std::string jsonText(const nlohmann::json &document);

} // namespace trainc::report
