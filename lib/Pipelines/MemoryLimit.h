// `--memory-limit`: a plan that needs more is refused, with advice.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace trainc {

/// A limit, and what the program says that matters for advice.
struct MemoryLimit {
  int64_t bytes;
  int64_t zeroStage;
  bool recomputes; ///< the backward computes again what is cheap
};

/// Emits an error at the module's train.program if its plan (phase `plan`) and what it needs besides
/// (MemoryReport::unplanned) take more bytes than the limit. It says what takes the bytes, and what would
/// help.
llvm::LogicalResult checkMemoryLimit(mlir::ModuleOp module, const MemoryLimit &limit);

} // namespace trainc
