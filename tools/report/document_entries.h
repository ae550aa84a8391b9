// Entries in the report's document: moments and values, a list for each of their numbers.
#pragma once

#include "tools/report/analysis.h"

namespace trainc::report {

/// Adds "entries", and "sources", "files" and "instructions", which their numbers count in.
void addEntries(const Analysis &analysis, nlohmann::json &document);

/// To nanoseconds, so that few digits say it.
double roundSeconds(double seconds);

} // namespace trainc::report
