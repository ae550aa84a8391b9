// Turns a model and its program into entries on static tensors; the pass `instantiate` is a shell around it.
#pragma once

#include "lib/Instantiate/Binding.h"

namespace trainc {

/// Refuses what is no part of the language: other ops at the top, settings that an op does not have, and
/// names that no plan could hold.
mlir::LogicalResult checkModelText(mlir::ModuleOp module);

/// Replaces the module's models and blocks by states and entries. Errors are reported at the user's ops.
mlir::LogicalResult instantiate(mlir::ModuleOp module);

} // namespace trainc
