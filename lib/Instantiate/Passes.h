// The pass from the phase `model` to the phase `step`.
#pragma once

#include "dialects/Train/Train.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace trainc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Instantiate/Passes.h.inc"

} // namespace trainc
