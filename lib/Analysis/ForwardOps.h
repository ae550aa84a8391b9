// Forward ops of a training step.
#pragma once

#include "dialects/Train/Train.h"

#include "llvm/ADT/DenseSet.h"

namespace trainc {

/// Returns the ops that the step's loss depends on, and the markers of block boundaries (train.block_use).
/// The entry must have a forward and a backward.
llvm::DenseSet<mlir::Operation *> forwardOps(train::EntryOp entry);

} // namespace trainc
