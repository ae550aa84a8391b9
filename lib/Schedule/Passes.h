// Passes that place collectives in time.
#pragma once

#include "mlir/Pass/Pass.h"

namespace trainc {

#define GEN_PASS_DECL
#include "lib/Schedule/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/Schedule/Passes.h.inc"

} // namespace trainc
