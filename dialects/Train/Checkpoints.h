// What the backward of a program computes again.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc::train {

/// A program's words `activation_checkpointing` and `checkpoint_...`, with their defaults. A budget that is
/// not spent yet computes nothing again.
struct CheckpointSettings {
  bool recomputesCheap = false;              ///< the pass `recompute`
  bool recomputesBlocks = false;             ///< the pass `recompute-blocks`, with the following
  llvm::SmallVector<llvm::StringRef> blocks; ///< none: the outermost uses of all
  int64_t every = 1;
  llvm::SmallVector<int64_t> keep; ///< percent of each use
};

CheckpointSettings checkpointsOf(ProgramOp program);

/// Whether the compiler chooses `checkpoint_keep` and `checkpoint_rest` for the memory limit.
bool hasBudget(ProgramOp program);

} // namespace trainc::train
