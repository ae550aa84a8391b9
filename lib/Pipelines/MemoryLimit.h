// `--memory-limit`: a plan that needs more is refused, with advice.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace trainc {

/// Emits an error at the module's train.program if its plan (phase `plan`) and what it needs besides
/// (kUnplannedBytes) take more than `limit` bytes. It says what takes the bytes, and what
/// would help.
llvm::LogicalResult checkMemoryLimit(mlir::ModuleOp module, std::optional<int64_t> limit);

} // namespace trainc
