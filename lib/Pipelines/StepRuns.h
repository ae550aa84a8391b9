// Which entries a training step runs, and how often.
#pragma once

#include "dialects/Plan/Plan.h"

namespace trainc {

/// How often a training step runs an entry of that kind, in a module of phase `plan`.
int64_t runsPerStep(mlir::ModuleOp module, EntryKind entry);

} // namespace trainc
