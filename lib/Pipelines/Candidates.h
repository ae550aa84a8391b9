// Plans without code, for choosing among settings.
#pragma once

#include "lib/Pipelines/Phases.h"
#include "lib/Pipelines/Report.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringSet.h"

#include <limits>
#include <map>
#include <mutex>

namespace trainc {

/// Memory and predicted time of a plan that has not been lowered to code.
struct CandidatePlan {
  MemoryReport memory; ///< exact, because addresses are assigned
  StepSeconds step;    ///< of a training step
  StepFlops flops;     ///< of a rank in a training step
  int64_t sentBytes;   ///< by each rank in a training step
  /// Headroom in bytes of a rank's share of its node's host memory (host_memory); negative if it is exceeded.
  int64_t hostLeft = std::numeric_limits<int64_t>::max();

  /// Bytes that count against the memory limit.
  int64_t bytes() const { return memory.needed(); }
  /// Headroom in bytes: the smaller of device and host. Negative if the plan does not fit.
  int64_t left(int64_t limit) const { return std::min(limit - bytes(), hostLeft); }
  bool fits(int64_t limit) const { return left(limit) >= 0; }
  /// Whether this plan exceeds the host's memory by less than `than`, or by as much and takes fewer bytes.
  bool isSmaller(const CandidatePlan &than) const {
    return std::pair(-std::min<int64_t>(hostLeft, 0), bytes()) <
           std::pair(-std::min<int64_t>(than.hostLeft, 0), than.bytes());
  }
};

/// Settings of one candidate, by their words. Only settings that passes read from activation checkpointing on
/// are allowed: activation_checkpointing and its words (checkpoint_keep and checkpoint_rest have an effect
/// with `full` and `budget` only), gathering of parameters (reshard_after_forward, max_reuse_distance,
/// prefetch), and offloading.
using TriedSettings = std::vector<train::GivenSetting>;

/// A program with its settings in the phase `step`, before activation checkpointing. All candidates that
/// differ in later settings only are planned from it.
class Candidates {
public:
  /// Clones `model` (phase `model`), applies `options` and runs the passes up to activation checkpointing.
  /// The memory limit is ignored. Fails with the errors of a compilation.
  static llvm::FailureOr<Candidates> make(mlir::ModuleOp model, const CompileOptions &options);

  /// Takes a module to which the passes of addStepPasses() have been applied.
  Candidates(mlir::OwningOpRef<mlir::ModuleOp> step, Strategy strategy);

  mlir::ModuleOp step() const { return step_.get(); }

  /// Caches programs before offloading, for callers that plan some of them several times.
  void keepScheduled() { scheduled_ = std::make_unique<Kept>(); }

  /// Plans the program with additional settings that do not affect the phase `step`. Thread-safe.
  llvm::FailureOr<CandidatePlan> plan(const TriedSettings &tried = {}) const;

  /// Memory of the plan if entries that read batches had no ops. It is a lower bound for any micro-batch and
  /// recomputation, except for gaps between buffers.
  llvm::FailureOr<MemoryReport> memoryWithoutBatches(const TriedSettings &tried) const;

private:
  /// Cache of modules by their settings. Thread-safe. Callers get copies.
  class Kept {
  public:
    mlir::OwningOpRef<mlir::ModuleOp> find(const std::string &settings); ///< null if there is none
    /// Adds the module unless another thread has done so.
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
  std::unique_ptr<Kept> otherEntries_, scheduled_; ///< scheduled_ may be null
};

/// Calls `plan` with each number below `count` on several threads, which may create and plan candidates. With
/// `firstAlone` the first call completes before the others start, so that errors of the model are reported
/// once. Fails if a call does; errors are reported in the order of numbers.
llvm::LogicalResult planEach(mlir::MLIRContext *context, size_t count, bool firstAlone,
                             llvm::function_ref<llvm::LogicalResult(size_t)> plan);

} // namespace trainc
