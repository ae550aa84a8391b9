// How much of the scratch memory gathered parameters take.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace trainc {

/// Bytes of scratch that hold gathered parameters at the moment at which they are most, in a module of phase
/// `plan`.
int64_t gatheredWindow(mlir::ModuleOp module);

} // namespace trainc
