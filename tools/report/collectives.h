// Communication of a plan's ranks in a training step.
#pragma once

#include "tools/report/analysis.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trainc::report {

/// Collectives of one kind.
struct CollectiveSum {
  std::string kind;   ///< "all-gather"
  uint64_t count = 0; ///< per step
  /// Sent by each rank per step, in a ring: (N-1)/N of the whole, twice that for an all-reduce.
  uint64_t sentBytes = 0;
  double seconds = 0; ///< predicted, per step
};

std::vector<CollectiveSum> collectivesOf(const Analysis &analysis);

} // namespace trainc::report
