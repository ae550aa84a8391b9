// Checkpointing levels: settings that budgets and the planner choose among.
#pragma once

#include "lib/Planner/Evaluate.h"

#include "mlir/IR/BuiltinOps.h"

namespace trainc {

/// Settings in the order of decreasing kept bytes and increasing predicted time. Finer levels may be slightly
/// out of order; those that are faster than an earlier coarse level are not chosen.
using CheckpointLevels = std::vector<Settings>;

/// Number of parts into which a model's uses of blocks are cut. With each level, one more part keeps a
/// smaller share of its bytes. Fine levels include the coarse ones.
inline constexpr int64_t kCoarseParts = 4, kFineParts = 16;

/// Returns the levels from keeping everything to keeping nothing. First uses are recomputed first, because
/// their values are kept longest. The last use keeps everything until all others keep nothing: its backward
/// runs first, and recomputes its values while all other uses' values are kept, so that only the peak at the
/// loss shrinks. The first two levels keep everything inside blocks and differ in recomputation outside.
/// Recomputing a use takes memory as well, so that of the last levels another than the last may take the
/// least memory.
CheckpointLevels checkpointLevels(mlir::ModuleOp step, int64_t parts = kCoarseParts);

/// Returns the settings that a budget chooses among: checkpointLevels() for each way to keep gathered
/// parameters, and levels in which the last use keeps as little as others. They do not depend on the limit.
std::vector<CheckpointLevels> checkpointCandidates(mlir::ModuleOp step, int64_t parts = kCoarseParts);

} // namespace trainc
