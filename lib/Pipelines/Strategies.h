// Strategies: what a program leaves open, decided in one way and planned without code.
#pragma once

#include "lib/Pipelines/Candidates.h"

#include "llvm/Support/JSON.h"

#include <vector>

namespace trainc {

/// One way to run a program, and what its plan takes.
struct PlannedStrategy {
  TriedSettings decided;
  CandidatePlan plan;
};

/// Whether the program's text says the word, or an option did.
bool isDecided(train::ProgramOp program, llvm::StringRef word);

/// Whether one of both did, and not the compiler in their place.
bool isGiven(train::ProgramOp program, llvm::StringRef word);

/// Each of `ways` with each of the values.
std::vector<TriedSettings> combine(const std::vector<TriedSettings> &ways, llvm::StringRef word,
                                   llvm::ArrayRef<llvm::StringRef> values);

/// The step of `model` (phase `model`), which has the settings of `options`, with these decisions. Warnings
/// are left to the strategy that is taken.
llvm::FailureOr<Candidates> makeStep(mlir::ModuleOp model, CompileOptions options,
                                     const TriedSettings &decided);

/// Such steps, made by several threads, the first one alone if planEach() is to do so. They keep what they
/// schedule: those who ask for several try what is offloaded behind them.
llvm::FailureOr<std::vector<Candidates>> makeSteps(mlir::ModuleOp model, const CompileOptions &options,
                                                   llvm::ArrayRef<TriedSettings> decided, bool firstAlone);

/// Writes the settings of `options` into the program of `model`, as applySettings() does. Warnings are left
/// to the strategy that is taken.
llvm::LogicalResult settle(mlir::ModuleOp model, const CompileOptions &options);

/// Plans every combination of ZeRO stage, offload (of nothing, the optimizer's states, or activations), and
/// activation checkpointing that the program of `model` (phase `model`) leaves open, which has the settings
/// of `options`. The order is always the same: by stage, then by offload, then from the checkpointing that
/// computes the least again to that which computes the most. Fails, with an error as diagnostic, where the
/// compiler would, and if the program has a budget for what is computed again: then a memory limit decides,
/// and nothing is left to compare.
llvm::FailureOr<std::vector<PlannedStrategy>> planStrategies(mlir::ModuleOp model,
                                                             const CompileOptions &options);

/// Why a strategy is or is not `taken` (null: none is): "the fastest that fits", "+1.47% seconds", "8.62 MiB
/// too much"; empty if nothing can be said. `limit`: bytes that a rank may take; 0: as many as it needs, and
/// the host has.
std::string verdictOn(const PlannedStrategy &strategy, const PlannedStrategy *taken, int64_t limit);

/// Settings, bytes of a rank by kind and where they lie, what a memory limit bounds, bytes sent, work,
/// seconds and the verdict on each.
llvm::json::Array strategiesJson(llvm::ArrayRef<PlannedStrategy> strategies, const PlannedStrategy *taken,
                                 int64_t limit);

} // namespace trainc
