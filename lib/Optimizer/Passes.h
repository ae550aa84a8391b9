// Passes of the phase `step` that update parameters.
#pragma once

#include "mlir/Pass/Pass.h"

namespace trainc {

#define GEN_PASS_DECL
#include "lib/Optimizer/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/Optimizer/Passes.h.inc"

} // namespace trainc
