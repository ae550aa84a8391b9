// The pre-condition of passes that execute tensors: the phase `scheduled`.
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

} // namespace trainc
