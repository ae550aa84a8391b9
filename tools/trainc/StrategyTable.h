// Table of strategies, for people.
#pragma once

#include "lib/Pipelines/Strategies.h"

#include <string>
#include <vector>

namespace trainc {

/// One line per strategy: `*` if it was `taken` (null: none was), settings, bytes per rank, time per step,
/// and why it was or was not taken. Bytes by kind and bytes sent are dropped as needed to fit 100 columns.
/// `limit` is the bytes a rank may use; 0: unlimited.
std::string strategyTable(const std::vector<PlannedStrategy> &strategies, const PlannedStrategy *taken,
                          int64_t limit);

} // namespace trainc
