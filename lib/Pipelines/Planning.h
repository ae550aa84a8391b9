// What was planned to decide for a memory limit, and what was taken.
#pragma once

#include "lib/Pipelines/Strategies.h"

namespace trainc {

/// Strategies that were planned: the one that was taken first, then what fits as well, the fastest first, and
/// then the others, those first that lack the least of the limit or the host.
struct Planning {
  int64_t limit = 0; ///< bytes
  std::vector<PlannedStrategy> tried;
  std::optional<size_t> taken;                 ///< its number; none if nothing fits, or nothing was open
  std::vector<PlannedStrategy> largestBatches; ///< of findLargestBatches(), if they were asked for
  int64_t hostThatFits = 0; ///< if nothing fits: bytes of a node's host with which something would; or 0

  /// Sets and sorts what was tried for a limit. `taken` is its number in `tried`.
  void set(int64_t limit, std::vector<PlannedStrategy> tried, std::optional<size_t> taken);
};

/// The limit, the strategies, and the number of the one that was taken: one was.
llvm::json::Object planningJson(const Planning &planning);

} // namespace trainc
