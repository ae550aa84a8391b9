// Search for the checkpointing level of a strategy: the fastest one, and the first that fits.
#pragma once

#include "lib/Pipelines/Trials.h"

namespace trainc {

/// Searches the levels of one strategy at a time. Methods fail with the errors of a compilation.
class LevelSearch {
public:
  LevelSearch(const Choices &choices, Trials &trials) : choices_(choices), trials_(trials) {}

  /// Returns the level with the most recomputation.
  llvm::FailureOr<size_t> lastLevel(Cell cell);
  /// Plans the last `count` levels and returns the one with the fewest bytes. It need not be the last,
  /// because recomputing a block takes memory.
  llvm::FailureOr<size_t> planSmallest(Cell cell, size_t count);
  /// Plans the last level, and also the one before if the last exceeds the limit by so little that it may
  /// fit. Returns the one with the fewest bytes.
  llvm::FailureOr<size_t> planSmallestIfClose(Cell cell);
  /// Returns the number of the fastest plan. Recomputation takes time, but if the step copies offloaded
  /// activations, it may save more: fewer activations are copied, and copies overlap with more computation.
  /// In that case the search begins at the fastest of the first two levels and the last, and continues while
  /// a neighbour is faster. It stops early if no other level can become faster than the best plan.
  llvm::FailureOr<size_t> planFastest(Cell cell);
  /// Plans the first level after the fastest one that fits, if there is one, unless it is slower than the
  /// best plan.
  llvm::LogicalResult planUntilItFits(Cell cell);
  /// As above, after level `first`.
  llvm::LogicalResult planUntilItFits(Cell cell, size_t first);

private:
  llvm::FailureOr<size_t> fastestLevel(Cell cell);
  llvm::FailureOr<size_t> findFastest(Cell cell);
  llvm::FailureOr<size_t> fastestBetween(Cell cell, size_t first, size_t last);
  llvm::FailureOr<size_t> fastestOf(Cell cell, llvm::ArrayRef<size_t> levels);
  llvm::LogicalResult plan(Cell cell, llvm::ArrayRef<size_t> levels);
  bool mayReachBest(Cell cell, size_t level, size_t neighbour) const;
  bool mayBeFaster(Cell cell, size_t tooLittle, size_t enough) const;
  llvm::FailureOr<bool> narrow(Cell cell, size_t &tooLittle, size_t &enough, bool byHalves);
  size_t numberOf(Cell cell, size_t level) const { return trials_.numberOf({cell, level}); }

  const Choices &choices_;
  Trials &trials_;
  std::map<Cell, size_t> fastest_; ///< levels that were found
};

} // namespace trainc
