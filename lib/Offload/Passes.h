// Passes that keep tensors outside the device's memory.
#pragma once

#include "mlir/Pass/Pass.h"

namespace trainc {

#define GEN_PASS_DECL
#include "lib/Offload/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/Offload/Passes.h.inc"

} // namespace trainc
