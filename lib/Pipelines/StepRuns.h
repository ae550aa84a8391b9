// Which entries a training step runs, and how often.
#pragma once

#include "dialects/Plan/Plan.h"

#include <array>

namespace trainc {

/// Those that a training step runs, of which a plan has some, in its order.
inline constexpr std::array kStepEntries = {EntryKind::begin_step, EntryKind::micro_step,
                                            EntryKind::last_micro_step, EntryKind::update};

/// How often a training step runs an entry of that kind, in a module of phase `plan`.
int64_t runsPerStep(mlir::ModuleOp module, EntryKind entry);

} // namespace trainc
