// How often a training step runs its entries.
#pragma once

#include "dialects/Plan/Plan.h"

namespace trainc {

/// Returns how often a training step runs an entry of that kind, in a module of phase `plan`.
int64_t runsPerStep(mlir::ModuleOp module, EntryKind entry);

} // namespace trainc
