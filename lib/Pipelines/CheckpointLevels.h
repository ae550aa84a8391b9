// How much of blocks the backward may compute again: the settings that budgets and the planner choose among.
#pragma once

#include "lib/Pipelines/Strategies.h"

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
/// blocks, and differ in what is computed again outside. To make a use's values again takes memory,
/// too. So of the last levels the last one keeps the least, and another one may take the least.
CheckpointLevels checkpointLevels(mlir::ModuleOp step, int64_t parts = kCoarseParts);

/// The settings that a budget chooses among: checkpointLevels(), for each way to keep gathered parameters,
/// and levels in which the last use keeps as little as others. They do not depend on the limit.
std::vector<CheckpointLevels> checkpointCandidates(mlir::ModuleOp step, int64_t parts = kCoarseParts);

} // namespace trainc
