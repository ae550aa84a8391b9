// Passes that end the phase `step`: primitive ops on tensors of known sizes.
#pragma once

#include "mlir/Pass/Pass.h"

namespace trainc {

#define GEN_PASS_DECL
#include "lib/Step/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/Step/Passes.h.inc"

} // namespace trainc
