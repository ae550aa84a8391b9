// Conversion of a model and its program to entries on static tensors; used by the pass `instantiate`.
#pragma once

#include "lib/Instantiate/Binding.h"

namespace trainc {

/// Reports an error for anything that the language does not allow: other ops at the top level, settings that
/// an op does not have, and names that no plan can store.
mlir::LogicalResult checkModelText(mlir::ModuleOp module);

/// Replaces the module's models and blocks by states and entries. Errors are reported at the user's ops.
mlir::LogicalResult instantiate(mlir::ModuleOp module);

} // namespace trainc
