// Result of planning for a memory limit: evaluated strategies and the decision, for the table and the report.
#pragma once

#include "lib/Planner/Evaluate.h"

#include "llvm/Support/JSON.h"

namespace trainc {

struct Planning {
  int64_t limit = 0; ///< bytes
  /// Evaluated strategies: the chosen one, then others that fit, the fastest first, then the rest, the
  /// smallest excess over the limit or the host first. Empty if nothing was open.
  std::vector<EvaluatedStrategy> strategies;
  bool fits = false;                             ///< if false, the first strategy is the smallest
  std::vector<EvaluatedStrategy> largestBatches; ///< of findLargestBatches(), if requested
  int64_t hostThatFits =
      0; ///< if nothing fits: bytes of a node's host memory with which something would; 0 if nothing would

  /// Sets and sorts the strategies. `chosen` is the number of the chosen one.
  void set(int64_t limit, std::vector<EvaluatedStrategy> strategies, size_t chosen);
  /// Returns null if nothing fits, or nothing was open.
  const EvaluatedStrategy *chosen() const { return fits ? &strategies.front() : nullptr; }
};

/// Returns the limit, the strategies, and the number of the chosen one; there must be one.
llvm::json::Object planningJson(const Planning &planning);

/// Returns why a strategy is or is not `chosen` (null if none is): "the fastest that fits", "+1.47% seconds",
/// "8.62 MiB too much"; empty if there is nothing to say. `limit` is the maximum bytes of a rank; 0 means no
/// limit except the host's memory.
std::string verdictOn(const EvaluatedStrategy &strategy, const EvaluatedStrategy *chosen, int64_t limit);

/// Returns settings, bytes per rank by kind and space, bytes that count against a memory limit, bytes sent,
/// work, seconds and verdict for each strategy.
llvm::json::Array strategiesJson(llvm::ArrayRef<EvaluatedStrategy> strategies,
                                 const EvaluatedStrategy *chosen, int64_t limit);

/// Returns the limit and the strategies with the largest micro-batches.
llvm::json::Object largestBatchesJson(int64_t limit, llvm::ArrayRef<EvaluatedStrategy> largest);

} // namespace trainc
