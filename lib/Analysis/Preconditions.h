// The pre-conditions of passes on tensors, and of those that execute them.
#pragma once

#include "mlir/IR/Operation.h"

namespace trainc {

/// Whether `op` (or none) makes numbers that are zero in every bit, for which memory is cleared instead.
bool isZero(mlir::Operation *op);
inline bool isZero(mlir::Value value) { return isZero(value.getDefiningOp()); }

/// Whether every op of the entry's block, and of the loops in it, can be executed: states' reads and writes,
/// inputs, zeros and ops with ExecutableOpInterface; and whether collectives may run beside the others
/// (Overlap.h). What is wrong is emitted as errors.
llvm::LogicalResult requireScheduled(mlir::Block &entry);

/// Whether all values inside `root` have types; the first that is a model's text, whose types are not
/// inferred yet, is an error.
llvm::LogicalResult requireConcrete(mlir::Operation *root);

} // namespace trainc
