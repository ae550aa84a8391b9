// Scratch memory of gathered parameters.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace trainc {

/// Returns the maximum over time of scratch bytes that hold gathered parameters, in a module of phase `plan`.
int64_t gatheredWindow(mlir::ModuleOp module);

} // namespace trainc
