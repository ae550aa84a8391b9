// Best-first branch and bound over a search space: the fastest strategy that fits into a memory limit.
#pragma once

#include "lib/Planner/LevelSearch.h"

#include <set>

namespace trainc {

/// Searches a space for a limit in bytes per rank. Equal input gives equal results. The search can be ended
/// after each method: the evaluations hold what has been found. Methods fail with the errors of a
/// compilation.
///
/// The frontier holds strategies without a level of recomputation, ordered by lower bounds of their seconds.
/// To expand the first strategy of the frontier, the search finds its first level that fits, and adds its
/// neighbours with smaller micro-batches and with more offloading to the frontier. The search ends if no
/// strategy of the frontier can be faster than the best one. It assumes that smaller micro-batches,
/// offloading and recomputation never save time. Recomputation may save time if the step copies offloaded
/// tensors.
///
/// A limit that nothing fits into is rejected after few evaluations if it is far below the strategies that
/// usually take the fewest bytes.
class Search {
public:
  Search(const SearchSpace &space, Evaluations &evaluations, int64_t limit)
      : table_(space, evaluations, limit), levels_(table_), space_(space), limit_(limit) {}

  /// Evaluates strategies until the fastest that fits is known.
  llvm::LogicalResult findFastest();
  /// If nothing fits, evaluates the candidates for the fewest bytes: the smallest micro-batches, with
  /// everything offloaded, and activations recomputed or offloaded. If the limit is far below all of them,
  /// evaluates only those that are the smallest of most programs.
  llvm::LogicalResult findSmallest();

  /// Number of the fastest evaluated strategy that fits, or none.
  std::optional<size_t> best() const { return table_.fastest(); }
  /// Returns the strategy of an evaluation that this search made.
  Strategy strategyOf(size_t number) const { return table_.strategyOf(number); }

private:
  llvm::LogicalResult addShardings();
  bool isFarAboveLimit(int64_t bytes) const;
  std::vector<Strategy> usuallySmallest() const;
  llvm::FailureOr<bool> areAllFarAboveLimit();
  llvm::FailureOr<bool> mayAnyFit();
  llvm::LogicalResult addToFrontier(const Strategy &strategy);
  llvm::LogicalResult addNeighbour(const Strategy &from, const Strategy &to, double lowerBound);
  llvm::LogicalResult addSmallerMicroBatches(const Strategy &strategy, double lowerBound);
  llvm::LogicalResult addOffloadedStates(const Strategy &strategy, double lowerBound);
  llvm::LogicalResult expand(const Strategy &strategy, double lowerBound);
  llvm::FailureOr<bool> turnsOutToFit(const Strategy &strategy, double &lowerBound);
  llvm::LogicalResult evaluateOffloadedActivations(const Strategy &strategy);
  llvm::LogicalResult evaluateOtherShardings();
  std::vector<Strategy> smallestOfEachSharding() const;
  std::vector<Strategy> candidatesForSmallest(llvm::ArrayRef<Strategy> strategies) const;
  llvm::LogicalResult evaluateOthersThatMayBeSmaller(llvm::ArrayRef<Strategy> strategies);

  StrategyTable table_;
  LevelSearch levels_;
  const SearchSpace &space_;
  int64_t limit_;
  std::multimap<double, Strategy> frontier_; ///< by lower bound of their seconds
  std::set<Strategy> reached_;               ///< strategies that are or have been in the frontier
};

} // namespace trainc
