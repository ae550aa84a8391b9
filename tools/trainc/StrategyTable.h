// Table of strategies, for people.
#pragma once

#include "lib/Pipelines/Planning.h"

#include <string>
#include <vector>

namespace trainc {

/// One line per strategy: `*` if it was `chosen` (null: none was), settings, bytes per rank, time per step,
/// and why it was or was not chosen. Fits 100 columns: bytes by kind and bytes sent are dropped as needed,
/// and if the settings alone are too wide, they stand as options under each line. `limit` is the bytes a rank
/// may use; 0: unlimited.
std::string strategyTable(const std::vector<EvaluatedStrategy> &strategies, const EvaluatedStrategy *chosen,
                          int64_t limit);

} // namespace trainc
