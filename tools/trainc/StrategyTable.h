// Table of strategies, for people.
#pragma once

#include "lib/Pipelines/Strategies.h"

#include <string>
#include <vector>

namespace trainc {

/// One line per strategy: settings, bytes per rank by kind, bytes sent and time per step, and why it was or
/// was not `taken` (null: none was). `limit` is the bytes a rank may use; 0: unlimited.
std::string strategyTable(const std::vector<PlannedStrategy> &strategies, const PlannedStrategy *taken,
                          int64_t limit);

} // namespace trainc
