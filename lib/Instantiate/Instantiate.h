// Turns a model and its program into entries on static tensors; the pass `instantiate` is a shell around it.
#pragma once

#include "lib/Instantiate/Binding.h"

namespace trainc {

/// Replaces the module's models and blocks by states and entries. Errors are reported at the user's ops.
mlir::LogicalResult instantiate(mlir::ModuleOp module, const InstantiateOptions &options);

} // namespace trainc
