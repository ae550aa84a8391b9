// The entries that a training step runs.
#pragma once

#include "plan/schema/plan_generated.h"

#include <cstdint>
#include <vector>

namespace trainc {

/// Entries that a training step runs, in their order.
std::vector<const fb::Entry *> stepEntries(const fb::Plan &plan);

/// Number of runs of an entry per training step; 0 if a step does not run it.
uint64_t runsPerStep(const fb::Plan &plan, const fb::Entry &entry);

} // namespace trainc
