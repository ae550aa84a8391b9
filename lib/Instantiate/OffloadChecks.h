// What the words about offload need of each other.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc {

/// The words of `offload` are each given once, and `none` alone; else an error at the program.
mlir::LogicalResult checkOffload(train::ProgramOp program);

} // namespace trainc
