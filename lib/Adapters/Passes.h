// Passes of the phase `step` that add adapters.
#pragma once

#include "mlir/Pass/Pass.h"

namespace trainc {

#define GEN_PASS_DECL
#include "lib/Adapters/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/Adapters/Passes.h.inc"

} // namespace trainc
