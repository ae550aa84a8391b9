// Passes of the phase `step` that differentiate.
#pragma once

#include "mlir/Pass/Pass.h"

namespace trainc {

#define GEN_PASS_DECL
#include "lib/Autodiff/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/Autodiff/Passes.h.inc"

} // namespace trainc
