// Strategies: assignments of a program's open settings, planned without code.
#pragma once

#include "lib/Pipelines/Candidates.h"

#include "llvm/Support/JSON.h"

#include <vector>

namespace trainc {

/// A strategy and its plan.
struct PlannedStrategy {
  TriedSettings decided;
  CandidatePlan plan;
};

/// Whether the program's text or an option sets the word, or the compiler chose it.
bool isDecided(train::ProgramOp program, llvm::StringRef word);

/// Whether the program's text or an option sets the word, and the compiler did not choose it.
bool isGiven(train::ProgramOp program, llvm::StringRef word);

/// Returns each of `ways` combined with each of the values.
std::vector<TriedSettings> combine(const std::vector<TriedSettings> &ways, llvm::StringRef word,
                                   llvm::ArrayRef<llvm::StringRef> values);

/// Creates the step of `model` (phase `model`), which has the settings of `options`, with these decisions.
/// Warnings are suppressed; compiling the chosen strategy reports them.
llvm::FailureOr<Candidates> makeStep(mlir::ModuleOp model, CompileOptions options,
                                     const TriedSettings &decided);

/// Creates such steps on several threads, the first one alone if planEach() is to do so. They cache scheduled
/// programs, because several offload settings are planned from each.
llvm::FailureOr<std::vector<Candidates>> makeSteps(mlir::ModuleOp model, const CompileOptions &options,
                                                   llvm::ArrayRef<TriedSettings> decided, bool firstAlone);

/// Writes the settings of `options` into the program of `model`, as applySettings() does. Warnings are
/// suppressed; compiling the chosen strategy reports them.
llvm::LogicalResult settle(mlir::ModuleOp model, const CompileOptions &options);

/// Plans every combination of ZeRO stage, offloading (nothing, optimizer states, or activations), and
/// activation checkpointing that the program of `model` (phase `model`) leaves open. `model` has the settings
/// of `options`. The order is fixed: by stage, then by offloading, then from the least to the most
/// recomputation. Fails with the errors of a compilation, and if the program has a checkpointing budget,
/// because then a memory limit decides and nothing is left to compare.
llvm::FailureOr<std::vector<PlannedStrategy>> planStrategies(mlir::ModuleOp model,
                                                             const CompileOptions &options);

/// Returns why a strategy is or is not `taken` (null if none is): "the fastest that fits", "+1.47% seconds",
/// "8.62 MiB too much"; empty if there is nothing to say. `limit` is the maximum bytes of a rank; 0 means no
/// limit except the host's memory.
std::string verdictOn(const PlannedStrategy &strategy, const PlannedStrategy *taken, int64_t limit);

/// Returns settings, bytes per rank by kind and space, bytes that count against a memory limit, bytes sent,
/// work, seconds and verdict for each strategy.
llvm::json::Array strategiesJson(llvm::ArrayRef<PlannedStrategy> strategies, const PlannedStrategy *taken,
                                 int64_t limit);

} // namespace trainc
