// Checks of the offload settings against each other.
#pragma once

#include "dialects/Train/Train.h"

namespace trainc {

/// Reports an error at the program if a word of `offload` is repeated, or `none` is combined with others.
mlir::LogicalResult checkOffload(train::ProgramOp program);

} // namespace trainc
