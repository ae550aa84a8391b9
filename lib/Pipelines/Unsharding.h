// Gathered parameters stay from forward to backward, and are gathered ahead, where memory allows it.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace trainc {

/// Whether the module's program divides parameters, and leaves what the words of `sharding` say to the
/// compiler.
bool isOpen(mlir::ModuleOp module, llvm::ArrayRef<llvm::StringRef> words);

/// Sets `max_reuse_distance` of the module's program to about the largest number (of a few that are tried)
/// whose plan fits into `limit` bytes: the less is gathered again, the less is sent. Where nothing can stay,
/// and even so no plan fits, `prefetch` becomes 0. Nothing is changed where the program divides no
/// parameters, or says these itself. `planPasses` takes the module, in the phase `spmd` before `reshard`, to
/// the phase `plan`.
mlir::LogicalResult gatherWhatFits(mlir::ModuleOp module, int64_t limit,
                                   llvm::function_ref<void(mlir::PassManager &)> planPasses);

} // namespace trainc
