// Queries of the compiler to the planner. Each evaluates strategies (PhaseEvaluator.h) and decides.
#pragma once

#include "lib/Pipelines/Phases.h"
#include "lib/Pipelines/Planning.h"

#include <string>
#include <vector>

namespace trainc {

/// `--memory-limit`: decides the open settings of the program of `model` (phase `model`) such that its plan,
/// and what a rank needs besides, have at most `limit` bytes, and the predicted step on the target's
/// reference machine is fastest (lib/Planner/Search.h). Open settings are ZeRO stage and groups, offloading,
/// activation checkpointing, keeping and prefetching of gathered parameters, and the number of micro-batches
/// per step, whose samples do not change. Settings given by options or text are kept, except that the text's
/// micro-batch may be split. With `activation_checkpointing budget` nothing is open. `model` has the settings
/// of `options`. Equal input gives equal decisions. The decisions are written into the program. If nothing
/// fits, decides for the strategy with the fewest bytes that fits into the host, and checkMemory() reports
/// the error.
llvm::FailureOr<Planning> decideWhatFits(mlir::ModuleOp model, const CompileOptions &options, int64_t limit);

/// `--activation-checkpointing=budget`: sets in the program of `module` (phase `step`, before activation
/// checkpointing) the level with the shortest predicted time whose plan fits into `limit` bytes, if there is
/// one. A plan for a smaller limit is never predicted to be faster. `planning` gets the candidates.
llvm::LogicalResult chooseCheckpoints(mlir::ModuleOp module, const PassConditions &conditions, int64_t limit,
                                      Planning &planning);

/// Fails if no level fits, with an error at the program that gives the minimum limit of all candidates.
llvm::LogicalResult checkBudget(mlir::ModuleOp module, const Planning &planning);

/// `--largest-batch`: finds the largest micro-batch for each kind of activation checkpointing: none,
/// selective, and full with recomputation of cheap ops outside blocks. Its plan, with what a rank needs
/// besides, must take at most `limit` bytes and fit into the host. All other settings are those of the
/// program of `model` (phase `model`) with `options`, so that the number of micro-batches per step does not
/// change. Kinds without a micro-batch that fits are omitted. Both the largest micro-batch and the next
/// larger one are planned completely, up to train::kMaxBatch samples. Fails with an error at the program if
/// it has no micro-batch, and with the errors of a compilation.
llvm::FailureOr<std::vector<EvaluatedStrategy>>
findLargestBatches(mlir::ModuleOp model, const CompileOptions &options, int64_t limit);

/// Returns those of the decided settings that also hold for the largest micro-batches, such as offloading.
Settings sharedWithLargest(const Settings &decided);

/// Returns a line for each activation checkpointing with which not one sample fits, or whose search ended at
/// the maximum number of samples.
std::string remarksOnLargestBatches(llvm::ArrayRef<EvaluatedStrategy> largest);

/// Result of `trainc estimate`.
struct StrategyComparison {
  std::vector<EvaluatedStrategy> strategies;
  std::string combinedSamples; ///< where the loss combines the samples of a micro-batch; empty if nowhere
};

/// `trainc estimate`: evaluates strategiesToCompare() of the program of `model` (phase `model`), which has
/// the settings of `options`. Fails with the errors of a compilation, and if the program has a checkpointing
/// budget, because then a memory limit decides and nothing is left to compare.
llvm::FailureOr<StrategyComparison> estimateStrategies(mlir::ModuleOp model, const CompileOptions &options);

} // namespace trainc
