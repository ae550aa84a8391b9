// `--activation-checkpointing=budget`: chooses recomputation for the memory limit.
#pragma once

#include "lib/Pipelines/Planning.h"

namespace trainc {

/// Sets in the program of `module` (phase `step`, before activation checkpointing) the candidate with the
/// shortest predicted time whose plan fits into `limit` bytes, if there is one. A plan for a smaller limit is
/// never predicted to be faster. `planning` gets the candidates.
llvm::LogicalResult chooseCheckpoints(mlir::ModuleOp module, const Strategy &strategy, int64_t limit,
                                      Planning &planning);

/// Fails if none fits, with an error at the program that gives the minimum limit of all candidates.
llvm::LogicalResult checkBudget(mlir::ModuleOp module, const Planning &planning);

} // namespace trainc
