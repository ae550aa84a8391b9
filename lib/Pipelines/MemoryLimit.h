// `--memory-limit`: a plan that needs more is refused, with advice.
#pragma once

#include "lib/Pipelines/CompileOptions.h"

#include "mlir/IR/BuiltinOps.h"

namespace trainc {

/// Emits an error at the module's train.program if its plan (phase `plan`) and what it needs besides
/// (MemoryReport::unplanned) take more bytes than `options` allow. It says what takes the bytes, and
/// what would help.
llvm::LogicalResult checkMemoryLimit(mlir::ModuleOp module, const CompileOptions &options);

} // namespace trainc
