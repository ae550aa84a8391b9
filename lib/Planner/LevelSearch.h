// Search along one dimension: the levels of recomputation of one strategy.
#pragma once

#include "lib/Planner/StrategyTable.h"

namespace trainc {

/// Finds levels of recomputation with few evaluations. Bytes are almost linear in levels. Seconds rise from
/// the fastest level on, which is the first unless the step copies offloaded tensors.
class LevelSearch {
public:
  explicit LevelSearch(StrategyTable &table) : table_(table), space_(table.space()), limit_(table.limit()) {}

  llvm::LogicalResult evaluate(const Strategy &strategy, llvm::ArrayRef<size_t> levels);
  /// Evaluates levels and returns the fastest one. Recomputation takes time, but if the step copies offloaded
  /// activations, it may save more: fewer activations are copied, and copies overlap with more computation.
  llvm::FailureOr<size_t> findFastest(const Strategy &strategy);
  /// Evaluates the last `count` levels and returns the one with the fewest bytes. It need not be the last,
  /// because recomputing a block takes memory.
  llvm::FailureOr<size_t> findSmallest(const Strategy &strategy, size_t count);
  /// Evaluates the last level, and also the one before if the last exceeds the limit by so little that it may
  /// fit. Returns the one with the fewest bytes.
  llvm::FailureOr<size_t> findSmallestIfClose(const Strategy &strategy);
  /// Searches for the first level after `first` that fits, and evaluates it. Stops early if that level would
  /// be slower than the best strategy.
  llvm::LogicalResult findFirstThatFits(const Strategy &strategy, size_t first);

private:
  llvm::FailureOr<size_t> fastestOf(const Strategy &strategy, llvm::ArrayRef<size_t> levels);
  llvm::FailureOr<size_t> fastestIfCopied(const Strategy &strategy);
  llvm::FailureOr<size_t> fastestBetween(const Strategy &strategy, size_t first, size_t last);
  llvm::FailureOr<bool> narrow(const Strategy &strategy, size_t &tooLittle, size_t &enough, bool byHalves);

  StrategyTable &table_;
  const SearchSpace &space_;
  int64_t limit_;
  std::map<Strategy, size_t> fastest_; ///< results of findFastest()
};

} // namespace trainc
