// Which ops of a training step are its forward.
#pragma once

#include "dialects/Train/Train.h"

#include "llvm/ADT/DenseSet.h"

namespace trainc {

/// Those that the step's loss is computed from, in an entry with forward and backward, and the marks of
/// blocks' borders.
llvm::DenseSet<mlir::Operation *> forwardOps(train::EntryOp entry);

} // namespace trainc
