// Result of planning for a memory limit: planned strategies and the decision.
#pragma once

#include "lib/Pipelines/Strategies.h"

namespace trainc {

struct Planning {
  int64_t limit = 0; ///< bytes
  /// Planned strategies: the chosen one, then others that fit, the fastest first, then the rest, the smallest
  /// excess over the limit or the host first. Empty if nothing was open.
  std::vector<PlannedStrategy> tried;
  bool fits = false;                           ///< if false, the first strategy is the smallest
  std::vector<PlannedStrategy> largestBatches; ///< of findLargestBatches(), if requested
  int64_t hostThatFits =
      0; ///< if nothing fits: bytes of a node's host memory with which something would; 0 if nothing would

  /// Sets and sorts the strategies planned for a limit. `decided` is the number of the chosen one in `tried`.
  void set(int64_t limit, std::vector<PlannedStrategy> tried, size_t decided);
  /// Returns null if nothing fits, or nothing was open.
  const PlannedStrategy *taken() const { return fits ? &tried.front() : nullptr; }
};

/// Returns the limit, the strategies, and the number of the chosen one; there must be one.
llvm::json::Object planningJson(const Planning &planning);

} // namespace trainc
