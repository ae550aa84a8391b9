// Which step of an entry is the first to change what checkpoints hold.
#pragma once

#include "runtime/exec/program.h"

namespace trainc {

/// Index in `program.steps` of the first step that writes a parameter or an optimizer state; steps.size()
/// when none does.
uint32_t firstStateWrite(const fb::Plan &plan, const Program &program);

} // namespace trainc
