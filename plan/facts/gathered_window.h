// Gathered parameters in memory.
#pragma once

#include "plan/schema/plan_generated.h"

#include <cstdint>

namespace trainc {

/// Maximum bytes of gathered parameters that are held in scratch memory at once, over all entries: from a
/// gather to the last use of its destination. Parameters cast to another type before the gather count too.
uint64_t gatheredWindow(const fb::Plan &plan);

} // namespace trainc
