// Passes of activation checkpointing: recomputation saves memory.
#pragma once

#include "mlir/Pass/Pass.h"

namespace trainc {

#define GEN_PASS_DECL
#include "lib/Remat/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/Remat/Passes.h.inc"

} // namespace trainc
