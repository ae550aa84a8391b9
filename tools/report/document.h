// The report as JSON: output of `trainc report --json`, and input of the page.
#pragma once

#include "tools/report/analysis.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace trainc::report {

/// Returns the report as JSON; docs/reference/report-json.md lists the keys. `file` is the plan's path as the
/// user gave it.
nlohmann::json documentOf(const Analysis &analysis, std::string_view file);

/// Returns a document as UTF-8 text, with invalid bytes replaced.
std::string jsonText(const nlohmann::json &document);

} // namespace trainc::report
