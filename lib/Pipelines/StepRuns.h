// Entries of a training step, and how often a step runs them.
#pragma once

#include "dialects/Plan/Plan.h"

#include <array>

namespace trainc {

/// Entries of a training step in order; a plan has some of them.
inline constexpr std::array kStepEntries = {EntryKind::begin_step, EntryKind::micro_step,
                                            EntryKind::last_micro_step, EntryKind::update};

/// Returns how often a training step runs an entry of that kind, in a module of phase `plan`.
int64_t runsPerStep(mlir::ModuleOp module, EntryKind entry);

} // namespace trainc
