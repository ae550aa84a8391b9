// Passes of the phase `step` that decide in which types a program computes.
#pragma once

#include "mlir/Pass/Pass.h"

namespace trainc {

#define GEN_PASS_DECL
#include "lib/Precision/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/Precision/Passes.h.inc"

} // namespace trainc
