// Keeping of gathered parameters from forward to backward where memory allows it.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace trainc {

/// Whether the module's program shards parameters and leaves these words of `sharding` open.
bool isOpen(mlir::ModuleOp module, llvm::ArrayRef<llvm::StringRef> words);

/// Finds the largest of several values of `max_reuse_distance` whose plan fits, for a module of phase `step`:
/// the less is gathered again, the less is sent. Calls `fit` a few times with ascending distances; `fit`
/// plans with each and returns whether it fits. Fails if `fit` does.
mlir::LogicalResult
keepWhatFits(mlir::ModuleOp step,
             llvm::function_ref<mlir::FailureOr<llvm::SmallVector<bool>>(llvm::ArrayRef<int64_t>)> fit);

} // namespace trainc
