// Preconditions of passes on tensors, and of passes that execute them.
#pragma once

#include "mlir/IR/Operation.h"

namespace trainc {

/// Whether `op` produces all-zero bits, for which memory is cleared; false for null.
bool isZero(mlir::Operation *op);
inline bool isZero(mlir::Value value) { return isZero(value.getDefiningOp()); }

/// Reports an error unless every op of the entry's block and of its loops is executable (reads and writes of
/// states, inputs, zeros and ops with ExecutableOpInterface), and collectives can overlap with computation
/// (Overlap.h).
llvm::LogicalResult requireScheduled(mlir::Block &entry);

/// Reports an error if a value inside `root` has no type yet, as in a model's text.
llvm::LogicalResult requireConcrete(mlir::Operation *root);

} // namespace trainc
