// Entries in the report's JSON: moments and values, in columnar form.
#pragma once

#include "tools/report/analysis.h"

namespace trainc::report {

/// Adds "entries", and the tables "sources", "files" and "instructions" that they index.
void addEntries(const Analysis &analysis, nlohmann::json &document);

/// Rounds to nanoseconds, for short output.
double roundSeconds(double seconds);

} // namespace trainc::report
