// Strategies below each other, for people.
#pragma once

#include "lib/Pipelines/Strategies.h"

#include <string>
#include <vector>

namespace trainc {

/// A line each: settings, bytes of a rank by kind, bytes sent and seconds of a step, and why it is or is not
/// `taken` (null: none is). `limit`: bytes that a rank may take; 0: as many as it needs.
std::string strategyTable(const std::vector<PlannedStrategy> &strategies, const PlannedStrategy *taken,
                          int64_t limit);

} // namespace trainc
