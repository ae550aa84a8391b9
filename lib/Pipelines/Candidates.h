// Plans without code: what a program takes with some settings, for those who choose among settings.
#pragma once

#include "lib/Pipelines/Phases.h"
#include "lib/Pipelines/Report.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringSet.h"

#include <limits>
#include <map>
#include <mutex>

namespace trainc {

/// What a plan takes, had it code.
struct CandidatePlan {
  MemoryReport memory; ///< exact: addresses are assigned
  StepSeconds step;    ///< of a training step
  StepFlops flops;     ///< of a rank in a training step
  int64_t sentBytes;   ///< by each rank in a training step
  /// Bytes that are left of a rank's share of what its node's host may give (host_memory); negative: missing.
  int64_t hostLeft = std::numeric_limits<int64_t>::max();

  /// What a memory limit bounds.
  int64_t bytes() const { return memory.needed(); }
  /// Of the limit, or of the host if less is left there; negative: it does not fit.
  int64_t left(int64_t limit) const { return std::min(limit - bytes(), hostLeft); }
  bool fits(int64_t limit) const { return left(limit) >= 0; }
  /// Whether less is missing of the host, or as much, and it takes fewer bytes.
  bool isSmaller(const CandidatePlan &than) const {
    return std::pair(-std::min<int64_t>(hostLeft, 0), bytes()) <
           std::pair(-std::min<int64_t>(than.hostLeft, 0), than.bytes());
  }
};

/// Settings that are tried together, by their words. They must be of those that passes read from the phase
/// `step` on, where activation checkpointing decides: activation_checkpointing itself and its words
/// (checkpoint_keep and checkpoint_rest do something with `full` and `budget` alone), how gathered parameters
/// stay and are gathered ahead (reshard_after_forward, max_reuse_distance, prefetch), and what is offloaded.
using TriedSettings = std::vector<train::GivenSetting>;

/// A program with its settings in the phase `step`, before activation checkpointing decides. All candidates
/// are planned from here that differ behind it alone.
class Candidates {
public:
  /// Brings a copy of `model` (phase `model`) there, with the settings of `options` over those of its
  /// program; the memory limit is not looked at. Fails, with an error as diagnostic, where the compiler
  /// would.
  static llvm::FailureOr<Candidates> make(mlir::ModuleOp model, const CompileOptions &options);

  /// Takes a module that addStepPasses() brought there.
  Candidates(mlir::OwningOpRef<mlir::ModuleOp> step, Strategy strategy);

  mlir::ModuleOp step() const { return step_.get(); }

  /// Programs are kept before something goes outside, for those who plan some of them more than once.
  void keepScheduled() { scheduled_ = std::make_unique<Kept>(); }

  /// Plans it with some settings more, which the phase `step` does not depend on. Several threads may plan at
  /// once.
  llvm::FailureOr<CandidatePlan> plan(const TriedSettings &tried = {}) const;

  /// What it would take with nothing in entries that read batches. No micro-batch takes less, whatever is
  /// computed again, except that addresses may leave less between buffers.
  llvm::FailureOr<MemoryReport> memoryWithoutBatches(const TriedSettings &tried) const;

private:
  /// Modules by the settings that they were made with. Several threads may look and keep at once. Each gets a
  /// copy.
  class Kept {
  public:
    mlir::OwningOpRef<mlir::ModuleOp> find(const std::string &settings); ///< null if there is none
    /// Keeps it unless another thread did.
    mlir::OwningOpRef<mlir::ModuleOp> keep(const std::string &settings,
                                           mlir::OwningOpRef<mlir::ModuleOp> module);

  private:
    std::mutex mutex_;
    std::map<std::string, mlir::OwningOpRef<mlir::ModuleOp>> modules_;
  };
  mlir::OwningOpRef<mlir::ModuleOp> scheduled(const TriedSettings &tried) const;
  llvm::LogicalResult schedule(mlir::ModuleOp module, const TriedSettings &tried) const;
  void moveOthers(mlir::ModuleOp from, mlir::ModuleOp to) const;

  mlir::OwningOpRef<mlir::ModuleOp> step_;
  Strategy strategy_;
  llvm::StringSet<> changing_;                     ///< entries that activation checkpointing changes
  std::unique_ptr<Kept> otherEntries_, scheduled_; ///< the latter may be null
};

/// Calls `plan` with each number below `count`, by several threads, which may make and plan candidates. With
/// `firstAlone` the others follow the first one: what is wrong with a model is wrong with all, and said once.
/// Fails if one of them does; errors come in the order of numbers.
llvm::LogicalResult planEach(mlir::MLIRContext *context, size_t count, bool firstAlone,
                             llvm::function_ref<llvm::LogicalResult(size_t)> plan);

} // namespace trainc
