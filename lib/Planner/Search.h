// Best-first branch and bound over a search space: the fastest strategy that fits into a memory limit.
#pragma once

#include "lib/Planner/Space.h"

#include <set>

namespace trainc {

/// Searches a space for a limit in bytes per rank. Equal input gives equal results. The search can be ended
/// after each method: the evaluations hold what has been found. Methods fail with the errors of a
/// compilation.
///
/// The frontier holds strategies without a level of recomputation, ordered by lower bounds of their seconds.
/// The first of the frontier is expanded: its first level that fits is found, and its neighbours with smaller
/// micro-batches and with more offloading are added. The search ends if no strategy of the frontier can be
/// faster than the best one. It assumes that smaller micro-batches, offloading and recomputation never save
/// time, except that recomputation may if the step copies offloaded tensors.
class Search {
public:
  Search(const SearchSpace &space, Evaluations &evaluations, int64_t limit)
      : space_(space), evaluations_(evaluations), limit_(limit) {}

  /// Evaluates strategies until the fastest that fits is known.
  llvm::LogicalResult findFastest();
  /// If nothing fits, evaluates the candidates for the fewest bytes: the smallest micro-batches, with
  /// everything offloaded, and activations recomputed or offloaded.
  llvm::LogicalResult findSmallest();

  /// Number of the fastest evaluated strategy that fits, or none.
  std::optional<size_t> best() const { return evaluations_.fastest(limit_); }
  /// Returns the strategy of an evaluation that this search made.
  Strategy strategyOf(size_t number) const;

private:
  // Search.cpp: the frontier.
  llvm::LogicalResult addShardings();
  llvm::LogicalResult addToFrontier(const Strategy &strategy);
  llvm::LogicalResult addNeighbour(const Strategy &from, const Strategy &to, double lowerBound);
  llvm::LogicalResult addSmallerMicroBatches(const Strategy &strategy, double lowerBound);
  llvm::LogicalResult addOffloadedStates(const Strategy &strategy, double lowerBound);
  llvm::LogicalResult expand(const Strategy &strategy, double lowerBound);
  llvm::FailureOr<bool> turnsOutToFit(const Strategy &strategy, double &lowerBound);
  llvm::LogicalResult evaluateOffloadedActivations(const Strategy &strategy);
  llvm::LogicalResult evaluateOtherShardings();
  bool isDominated(const Strategy &strategy) const;
  std::vector<Strategy> candidatesForSmallest(llvm::ArrayRef<Strategy> strategies) const;
  llvm::LogicalResult evaluateOthersThatMayBeSmaller(llvm::ArrayRef<Strategy> strategies);
  llvm::FailureOr<int64_t> lowerBoundBytes(const Strategy &strategy);

  // LevelSearch.cpp: levels of recomputation of one strategy.
  llvm::LogicalResult evaluateLevels(const Strategy &strategy, llvm::ArrayRef<size_t> levels);
  llvm::FailureOr<size_t> fastestLevelOf(const Strategy &strategy, llvm::ArrayRef<size_t> levels);
  llvm::FailureOr<size_t> fastestLevel(const Strategy &strategy);
  llvm::FailureOr<size_t> fastestLevelIfCopied(const Strategy &strategy);
  llvm::FailureOr<size_t> fastestLevelBetween(const Strategy &strategy, size_t first, size_t last);
  llvm::FailureOr<size_t> smallestLevel(const Strategy &strategy, size_t count);
  llvm::FailureOr<size_t> smallestLevelIfClose(const Strategy &strategy);
  llvm::LogicalResult findLevelThatFits(const Strategy &strategy, size_t first);
  llvm::FailureOr<bool> narrow(const Strategy &strategy, size_t &tooLittle, size_t &enough, bool byHalves);

  llvm::LogicalResult evaluate(llvm::ArrayRef<Strategy> strategies);
  bool isEvaluated(const Strategy &strategy) const { return numbers_.count(strategy) > 0; }
  const Evaluation &operator[](const Strategy &strategy) const { return evaluations_[numbers_.at(strategy)]; }
  const Evaluation &at(const Strategy &strategy, size_t level) const {
    return (*this)[strategy.with(kRecomputation, level)];
  }
  const Evaluation &
  firstOf(const Strategy &strategy) const; ///< the evaluated level that recomputes the least
  bool fits(const Strategy &strategy, size_t level) const { return at(strategy, level).fits(limit_); }
  bool anyLevelFits(const Strategy &strategy) const; ///< of those that have been evaluated
  bool isTooSlow(double seconds) const;              ///< whether the best strategy is at least as fast
  int64_t residentStates(const Strategy &strategy, size_t offloaded) const;
  bool statesFit(const Strategy &strategy) const;

  const SearchSpace &space_;
  Evaluations &evaluations_;
  int64_t limit_;
  std::multimap<double, Strategy> frontier_; ///< by lower bound of their seconds
  std::set<Strategy> reached_;               ///< strategies that have been in the frontier
  std::map<Strategy, size_t> numbers_;       ///< of evaluated strategies
  std::map<Strategy, size_t> fastestLevels_; ///< that were found
};

} // namespace trainc
