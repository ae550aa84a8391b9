// Passes of the memory phase: from scheduled ops on values to instructions on addresses.
#pragma once

#include "dialects/Plan/Plan.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace trainc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Memory/Passes.h.inc"

} // namespace trainc
