// Gathered parameters stay from forward to backward where memory allows it.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace trainc {

/// Whether the module's program divides parameters, and leaves what the words of `sharding` say to the
/// compiler.
bool isOpen(mlir::ModuleOp module, llvm::ArrayRef<llvm::StringRef> words);

/// Looks for the largest `max_reuse_distance`, of a few, of a module of phase `step` whose plan fits: the
/// less is gathered again, the less is sent. Calls `fit` a few times with ever more distances, in ascending
/// order, which plans with them and says for each whether it fits. Fails if `fit` does.
mlir::LogicalResult
keepWhatFits(mlir::ModuleOp step,
             llvm::function_ref<mlir::FailureOr<llvm::SmallVector<bool>>(llvm::ArrayRef<int64_t>)> fit);

} // namespace trainc
