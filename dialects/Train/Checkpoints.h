// Activation checkpointing of a program.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc::train {

/// Settings `activation_checkpointing` and `checkpoint_...` of a program, with their defaults. A budget that
/// has not been resolved yet recomputes nothing.
struct CheckpointSettings {
  bool recomputesCheap = false;  ///< whether the pass `recompute` runs
  bool recomputesBlocks = false; ///< whether the pass `recompute-blocks` runs, with the following settings
  llvm::SmallVector<llvm::StringRef> blocks; ///< empty: the outermost uses of all blocks
  llvm::SmallVector<int64_t> keep;           ///< percent of the bytes of each use that is kept
};

CheckpointSettings checkpointsOf(ProgramOp program);

/// Whether the compiler chooses `checkpoint_keep` and `checkpoint_rest` for the memory limit.
bool hasBudget(ProgramOp program);

} // namespace trainc::train
