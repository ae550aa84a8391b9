// What the ranks of a plan send each other in a training step.
#pragma once

#include "tools/report/analysis.h"

#include <cstdint>
#include <string>
#include <vector>

namespace trainc::report {

/// Collectives of one kind.
struct CollectiveSum {
  std::string kind;       ///< "all-gather"
  uint64_t count = 0;     ///< in a step
  uint64_t sentBytes = 0; ///< by each rank in a step, in a ring: (N-1)/N of the whole, twice of an all-reduce
  double seconds = 0;     ///< predicted, in a step
};

std::vector<CollectiveSum> collectivesOf(const Analysis &analysis);

} // namespace trainc::report
