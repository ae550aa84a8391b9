// Passes that turn a step of primitive ops into kernels.
#pragma once

#include "mlir/Pass/Pass.h"

namespace trainc {

#define GEN_PASS_DECL
#include "lib/Fusion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/Fusion/Passes.h.inc"

} // namespace trainc
