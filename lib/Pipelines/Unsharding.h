// Gathered parameters stay from forward to backward where memory allows it.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace trainc {

/// Whether the module's program divides parameters, and leaves what the words of `sharding` say to the
/// compiler.
bool isOpen(mlir::ModuleOp module, llvm::ArrayRef<llvm::StringRef> words);

/// About the largest `max_reuse_distance` (of a few that are tried) of a module of phase `step` whose plan
/// `fits`: the less is gathered again, the less is sent. 0 if none is known to. Fails if `fits` does.
mlir::FailureOr<int64_t> fittingReuseDistance(mlir::ModuleOp step,
                                              llvm::function_ref<mlir::FailureOr<bool>(int64_t)> fits);

} // namespace trainc
