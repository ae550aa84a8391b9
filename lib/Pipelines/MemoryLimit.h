// `--memory-limit`: a plan that needs more is refused, with advice.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace trainc {

/// Emits an error at the module's train.program if its plan (phase `plan`) and what it needs besides
/// (kUnplannedBytes) take more than `limit` bytes; 0 is no limit. It says what takes the bytes, and what
/// would help.
llvm::LogicalResult checkMemoryLimit(mlir::ModuleOp module, int64_t limit);

} // namespace trainc
