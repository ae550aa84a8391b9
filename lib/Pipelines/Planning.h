// What was planned to decide for a memory limit, and what was decided.
#pragma once

#include "lib/Pipelines/Strategies.h"

namespace trainc {

struct Planning {
  int64_t limit = 0; ///< bytes
  /// What was planned: the strategy that was decided on first, then what fits as well, the fastest first, and
  /// then the others, those first that lack the least of the limit or the host. Empty if nothing was open.
  std::vector<PlannedStrategy> tried;
  bool fits = false;                           ///< else the first one is the smallest
  std::vector<PlannedStrategy> largestBatches; ///< of findLargestBatches(), if they were asked for
  int64_t hostThatFits = 0; ///< if nothing fits: bytes of a node's host with which something would; or 0

  /// Sets and sorts what was tried for a limit. `decided` is a number in `tried`.
  void set(int64_t limit, std::vector<PlannedStrategy> tried, size_t decided);
  /// Null if nothing fits, or nothing was open.
  const PlannedStrategy *taken() const { return fits ? &tried.front() : nullptr; }
};

/// The limit, the strategies, and the number of the one that was taken: one was.
llvm::json::Object planningJson(const Planning &planning);

} // namespace trainc
