// Evaluated strategies of a search space, and queries about them.
#pragma once

#include "lib/Planner/Space.h"

namespace trainc {

/// Evaluates strategies of a space, for a limit in bytes per rank, and keeps the evaluation of each strategy.
/// Methods fail with the errors of a compilation. Except for isEvaluated(), queries require that the
/// strategy, or one of its levels, has been evaluated.
class StrategyTable {
public:
  StrategyTable(const SearchSpace &space, Evaluations &evaluations, int64_t limit)
      : space_(space), evaluations_(evaluations), limit_(limit) {}

  const SearchSpace &space() const { return space_; }
  int64_t limit() const { return limit_; }

  llvm::LogicalResult evaluate(llvm::ArrayRef<Strategy> strategies);
  /// Returns the evaluations of strategies that need not become candidates; isEvaluated() does not count
  /// them.
  llvm::FailureOr<std::vector<Evaluation>> probe(llvm::ArrayRef<Strategy> strategies);
  /// Returns a lower bound of the bytes that neither recomputation nor smaller micro-batches reduce. All
  /// strategies with several micro-batches share a bound, because accumulated gradients take the same memory.
  llvm::FailureOr<int64_t> lowerBoundBytes(const Strategy &strategy);

  /// All evaluations, in the order of their numbers.
  const std::vector<EvaluatedStrategy> &all() const { return evaluations_.all(); }
  bool isEvaluated(const Strategy &strategy) const { return numbers_.count(strategy) > 0; }
  const Evaluation &operator[](const Strategy &strategy) const { return evaluations_[numbers_.at(strategy)]; }
  const Evaluation &at(const Strategy &strategy, size_t level) const {
    return (*this)[strategy.with(kRecomputation, level)];
  }
  /// Returns the evaluation of the evaluated level that recomputes the least.
  const Evaluation &firstOf(const Strategy &strategy) const;

  bool fits(const Strategy &strategy, size_t level) const { return at(strategy, level).fits(limit_); }
  bool anyLevelFits(const Strategy &strategy) const; ///< whether an evaluated level fits
  /// Returns the bytes of states that stay in memory if the first `offloaded` kinds of kOffloadStates are
  /// offloaded, too. Neither recomputation nor smaller micro-batches reduce these bytes.
  int64_t residentStates(const Strategy &strategy, size_t offloaded) const;
  bool statesFit(const Strategy &strategy) const { return residentStates(strategy, 0) <= limit_; }
  /// Whether another sharding takes fewer seconds and bytes. It then does so with other settings, too,
  /// because settings that save bytes with one sharding save them with the other.
  bool isDominated(const Strategy &strategy) const;

  /// Number of the fastest evaluation that fits, or none.
  std::optional<size_t> fastest() const { return evaluations_.fastest(limit_); }
  bool isTooSlow(double seconds) const; ///< whether the fastest strategy that fits takes no longer
  /// Returns the strategy that takes the fewest bytes.
  Strategy smallest() const { return strategyOf(evaluations_.smallest()); }
  /// Returns the strategy of an evaluation that this table made.
  Strategy strategyOf(size_t number) const;

private:
  std::vector<Settings> settingsOf(llvm::ArrayRef<Strategy> strategies) const;

  const SearchSpace &space_;
  Evaluations &evaluations_;
  int64_t limit_;
  std::map<Strategy, size_t> numbers_; ///< of evaluations
};

} // namespace trainc
