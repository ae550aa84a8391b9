// `--activation-checkpointing=budget`: what the backward computes again follows from the memory limit.
#pragma once

#include "lib/Pipelines/Candidates.h"

namespace trainc {

/// How much of blocks is kept, from all to nothing, of the first uses first, whose values wait the longest.
/// The first two keep all inside blocks, and differ in what is computed again outside.
std::vector<TriedSettings> checkpointLevels(mlir::ModuleOp step);

/// The settings that a budget chooses among: from keeping all to keeping nothing inside blocks, of which the
/// first, whose values wait the longest, come first. They do not depend on the limit.
std::vector<TriedSettings> checkpointCandidates(mlir::ModuleOp step);

/// Sets in the program of `module` (phase `step`, before activation checkpointing decides) the candidate of
/// the least predicted seconds whose plan fits into `limit` bytes. So the plan of a smaller limit is never
/// predicted to be faster. Fails, with an error at the program that names the smallest limit that a
/// candidate fits into, if none fits.
llvm::LogicalResult chooseCheckpoints(mlir::ModuleOp module, const Strategy &strategy, int64_t limit);

} // namespace trainc
