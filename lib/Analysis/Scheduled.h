// The pre-condition of passes that execute tensors: the phase `scheduled`.
#pragma once

#include "mlir/IR/Operation.h"

namespace trainc {

/// Whether `op` (or none) makes numbers that are zero in every bit, for which memory is cleared instead.
bool isZero(mlir::Operation *op);
inline bool isZero(mlir::Value value) { return isZero(value.getDefiningOp()); }

/// Whether every op of the block, and of the loops in it, can be executed: states' reads and writes, inputs,
/// zeros and ops with ExecutableOpInterface. The others are errors.
llvm::LogicalResult requireScheduled(mlir::Block &block);

} // namespace trainc
