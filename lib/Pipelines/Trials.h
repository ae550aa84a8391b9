// Plans of the search space, each made once.
#pragma once

#include "lib/Pipelines/Choices.h"

#include <map>
#include <optional>

namespace trainc {

/// A complete strategy: a Cell, and its checkpointing level as a number of Choices::levels.
struct Trial {
  Cell cell;
  size_t level;
  auto operator<=>(const Trial &) const = default;
};

/// Plans are numbered in the order of requests. Plans requested together are made on several threads, with
/// the same result as on one. Methods that plan fail with the errors of a compilation.
class Trials {
public:
  Trials(mlir::ModuleOp model, const CompileOptions &options, const Choices &choices, int64_t limit)
      : model_(model), options_(options), choices_(choices), limit_(limit) {}

  /// Returns the cell's step, before activation checkpointing and offloading.
  llvm::FailureOr<const Candidates *> step(Cell cell);

  /// Plans the trials that have not been planned yet.
  llvm::LogicalResult plan(llvm::ArrayRef<Trial> trials);
  /// Returns the number of a trial's plan, planning it if necessary.
  llvm::FailureOr<size_t> plan(Trial trial);
  /// Plans a cell with each of these additional settings. The plans get the last numbers.
  llvm::LogicalResult planWith(Cell cell, llvm::ArrayRef<TriedSettings> extra);

  /// Returns an approximate lower bound of a cell's bytes, at any level and with any smaller micro-batch: the
  /// bytes of entries that read no batch, less an eighth of scratch for gaps that other addresses may avoid.
  /// The bound uses the cell's last level, which may gather nothing ahead.
  llvm::FailureOr<int64_t> lowerBoundBytes(Cell cell, size_t lastLevel);

  size_t size() const { return tried_.size(); }
  const PlannedStrategy &operator[](size_t number) const { return tried_[number]; }
  std::vector<PlannedStrategy> take() && { return std::move(tried_); }

  bool fits(size_t number) const { return tried_[number].plan.fits(limit_); }
  int64_t bytes(size_t number) const { return tried_[number].plan.bytes(); }
  int64_t left(size_t number) const {
    return tried_[number].plan.left(limit_);
  } ///< headroom in bytes; negative if exceeded
  double seconds(size_t number) const { return tried_[number].plan.step.total; }

  int64_t limit() const { return limit_; } ///< in bytes
  /// Returns the fastest plan that fits, the first of equally fast ones.
  std::optional<size_t> best() const;
  /// Whether the best plan is at least as fast as `seconds`.
  bool takesLongerThanBest(double seconds) const;
  /// Whether `a` takes no more seconds and no more bytes than `b`, and fewer of one of them.
  bool isBetter(size_t a, size_t b) const;
  /// Returns the plan with the fewest bytes among those that fit into the host, if there are any, else among
  /// all. At least one plan must exist.
  size_t smallest() const;
  /// Returns the minimum host bytes per rank with which a plan would fit; 0 if none would.
  int64_t hostThatFits() const;
  /// Returns the trial of a plan; none if planWith() made it.
  std::optional<Trial> trialOf(size_t number) const;
  size_t numberOf(Trial trial) const { return numbers_.at(trial); } ///< of a planned trial
  bool isPlanned(Trial trial) const { return numbers_.count(trial) > 0; }
  /// Whether one of the cell's planned levels fits.
  bool somethingFits(Cell cell) const;
  /// Returns the cell's planned level with the least recomputation.
  size_t firstOf(Cell cell) const { return numbers_.lower_bound({cell, 0})->second; }

private:
  struct Job {
    Cell cell;
    TriedSettings extra;
  };
  llvm::LogicalResult makeCellSteps(llvm::ArrayRef<Job> jobs);
  llvm::LogicalResult make(llvm::ArrayRef<Job> jobs);

  mlir::ModuleOp model_;
  const CompileOptions &options_;
  const Choices &choices_;
  int64_t limit_;
  std::map<Cell, Candidates> steps_; ///< of cells with nothing offloaded
  std::vector<PlannedStrategy> tried_;
  std::map<Trial, size_t> numbers_;
  std::map<Cell, int64_t>
      lowerBounds_; ///< of cells with the first choice of micro-batches, and with the second for all others
};

} // namespace trainc
