// Passes of the phase `spmd`.
#pragma once

#include "mlir/Pass/Pass.h"

namespace trainc {

#define GEN_PASS_DECL
#include "lib/Shard/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/Shard/Passes.h.inc"

} // namespace trainc
