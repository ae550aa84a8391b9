// `--activation-checkpointing=budget`: what the backward computes again follows from the memory limit.
#pragma once

#include "lib/Pipelines/Planning.h"

namespace trainc {

/// Settings, each of which keeps less and takes as long as the one before, or longer. Finer ones may stand a
/// little too late: those that turn out to be faster than a coarse one before them are not taken.
using CheckpointLevels = std::vector<TriedSettings>;

/// Into how many parts the uses of blocks are cut: with each level one part more of them keeps a smaller
/// share of its bytes. Coarse levels are among the fine ones.
inline constexpr int64_t kCoarseParts = 4, kFineParts = 16;

/// How much of blocks is kept, from all to nothing, of the first uses first, whose values wait the longest.
/// The last use keeps all until all others keep nothing: its backward comes first, and makes again what was
/// dropped while all others wait. Only at the loss does that save bytes. The first two levels keep all inside
/// blocks, and differ in what is computed again outside. Of the last two the last one keeps the least, and
/// the other one may take the least.
CheckpointLevels checkpointLevels(mlir::ModuleOp step, int64_t parts = kCoarseParts);

/// The settings that a budget chooses among: from keeping all to keeping nothing inside blocks, for each way
/// to keep gathered parameters. They do not depend on the limit.
std::vector<CheckpointLevels> checkpointCandidates(mlir::ModuleOp step, int64_t parts = kCoarseParts);

/// Sets in the program of `module` (phase `step`, before activation checkpointing decides) the candidate of
/// the least predicted seconds whose plan fits into `limit` bytes, if one does. So the plan of a smaller
/// limit is never predicted to be faster. `planning` gets the candidates.
llvm::LogicalResult chooseCheckpoints(mlir::ModuleOp module, const Strategy &strategy, int64_t limit,
                                      Planning &planning);

/// Fails if none fits, with an error at the program that names the smallest limit that a candidate fits into.
llvm::LogicalResult checkBudget(mlir::ModuleOp module, const Planning &planning);

} // namespace trainc
