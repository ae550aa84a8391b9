// `--activation-checkpointing=budget`: what the backward computes again follows from the memory limit.
#pragma once

#include "lib/Pipelines/Planning.h"

namespace trainc {

/// Sets in the program of `module` (phase `step`, before activation checkpointing decides) the candidate of
/// the least predicted seconds whose plan fits into `limit` bytes, if one does. So the plan of a smaller
/// limit is never predicted to be faster. `planning` gets the candidates.
llvm::LogicalResult chooseCheckpoints(mlir::ModuleOp module, const Strategy &strategy, int64_t limit,
                                      Planning &planning);

/// Fails if none fits, with an error at the program that names the smallest limit that a candidate fits into.
llvm::LogicalResult checkBudget(mlir::ModuleOp module, const Planning &planning);

} // namespace trainc
