// Strategies: what a program leaves open, decided in several ways and planned without code.
#pragma once

#include "lib/Pipelines/Candidates.h"

#include <vector>

namespace trainc {

/// One way to run a program, and what its plan takes.
struct PlannedStrategy {
  std::vector<train::GivenSetting> decided; ///< of what the program and the options leave open
  CandidatePlan plan;
};

/// Whether the text of the module's program says the word, or one of the options does.
bool isDecided(mlir::ModuleOp model, const CompileOptions &options, llvm::StringRef word);

/// Plans `model` (phase `model`) with every combination of ZeRO stage and activation checkpointing that it
/// and the options leave open. The order is always the same: by stage, then from the checkpointing that
/// computes the least again to that which computes the most. Fails, with an error as diagnostic, where the
/// compiler would.
llvm::FailureOr<std::vector<PlannedStrategy>> planStrategies(mlir::ModuleOp model,
                                                             const CompileOptions &options);

} // namespace trainc
