// How much a cell computes again: the fastest level, and the first one that fits.
#pragma once

#include "lib/Pipelines/Trials.h"

namespace trainc {

/// Searches the levels of one cell at a time. Each method fails where the compiler would, with an error as
/// diagnostic.
class LevelSearch {
public:
  LevelSearch(const Choices &choices, Trials &trials) : choices_(choices), trials_(trials) {}

  /// The level that computes the most again.
  llvm::FailureOr<size_t> lastLevel(Cell cell);
  /// Plans so many of the last levels: to make a block again takes memory, too. The one of the least bytes.
  llvm::FailureOr<size_t> planSmallest(Cell cell, size_t count);
  /// Plans the last level, and the one before if the last misses the limit by so little that this may fit.
  /// The one of the least bytes.
  llvm::FailureOr<size_t> planSmallestIfClose(Cell cell);
  /// The number of the plan of the least seconds. What is computed again takes time. If the step copies, it
  /// may save more: activations need not be copied, and copies have more computation to lie beside. So there
  /// the search begins at the fastest of the first two levels and the last, and goes on if a neighbour is
  /// faster. If no other level can become faster than the best plan, it ends there, with that neighbour.
  llvm::FailureOr<size_t> planFastest(Cell cell);
  /// Plans the first level behind the fastest one that fits, if there is one, unless it takes longer than the
  /// best plan.
  llvm::LogicalResult planUntilItFits(Cell cell);
  /// The same behind another level.
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
