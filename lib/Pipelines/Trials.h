// Plans that a planner tries among choices, each made once.
#pragma once

#include "lib/Pipelines/Choices.h"

#include <map>
#include <optional>

namespace trainc {

/// A cell, and how much of it is computed again: a number of Choices::levels.
struct Trial {
  Cell cell;
  size_t level;
  auto operator<=>(const Trial &) const = default;
};

/// Plans are numbered in the order in which they are asked for. Those that are asked for together are made by
/// several threads, and are the same with one. Each method that plans fails where the compiler would, with an
/// error as diagnostic.
class Trials {
public:
  Trials(mlir::ModuleOp model, const CompileOptions &options, const Choices &choices, int64_t limit)
      : model_(model), options_(options), choices_(choices), limit_(limit) {}

  /// The cell's step, before activation checkpointing and offload decide.
  llvm::FailureOr<const Candidates *> step(Cell cell);

  /// Plans those that are not planned.
  llvm::LogicalResult plan(llvm::ArrayRef<Trial> trials);
  /// The number of a trial's plan.
  llvm::FailureOr<size_t> plan(Trial trial);
  /// Plans a cell with each of these settings behind its own. The plans have the last numbers.
  llvm::LogicalResult planWith(Cell cell, llvm::ArrayRef<TriedSettings> behind);

  /// About the bytes that a cell takes at least, at any level and with any split on from its own, less an
  /// eighth of scratch for gaps that other addresses leave: what entries take that read no batch. Of these
  /// the cell's last level takes the least, which may gather nothing ahead.
  llvm::FailureOr<int64_t> leastBytes(Cell cell, size_t lastLevel);

  size_t size() const { return tried_.size(); }
  const PlannedStrategy &operator[](size_t number) const { return tried_[number]; }
  std::vector<PlannedStrategy> take() && { return std::move(tried_); }

  bool fits(size_t number) const { return tried_[number].plan.fits(limit_); }
  int64_t bytes(size_t number) const { return tried_[number].plan.bytes(); }
  int64_t left(size_t number) const { return tried_[number].plan.left(limit_); } ///< negative: missing
  double seconds(size_t number) const { return tried_[number].plan.step.total; }

  int64_t limit() const { return limit_; } ///< bytes
  /// The fastest that fits, the first of those that are as fast.
  std::optional<size_t> best() const;
  /// Whether so many seconds are no fewer than those of the best.
  bool takesLongerThanBest(double seconds) const;
  /// Whether `a` takes no more seconds and bytes than `b`, and less of one of them.
  bool isBetter(size_t a, size_t b) const;
  /// The one of the least bytes, of those that the host has room for, if there are any. Something is planned.
  size_t smallest() const;
  /// The least of the host's bytes, of a rank, with which one would fit; 0: none would.
  int64_t hostThatFits() const;
  /// Which trial a plan was made for; none if planWith() made it.
  std::optional<Trial> trialOf(size_t number) const;
  size_t numberOf(Trial trial) const { return numbers_.at(trial); } ///< of one that is planned
  bool isPlanned(Trial trial) const { return numbers_.count(trial) > 0; }
  /// Of the cell's levels that were planned, whether one fits.
  bool somethingFits(Cell cell) const;
  /// Of the cell's levels that were planned, the one that computes the least again.
  size_t firstOf(Cell cell) const { return numbers_.lower_bound({cell, 0})->second; }

private:
  struct Job {
    Cell cell;
    TriedSettings behind;
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
  std::map<Cell, int64_t> leastBytes_; ///< of cells with the first split, and with the second for all others
};

} // namespace trainc
