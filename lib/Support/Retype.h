// Types of values, and copies of ops for other shapes.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace trainc {

/// The type of a value that is a tensor of a known rank.
inline mlir::RankedTensorType rankedType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// Changes the attributes of `op` that spell its result's type or shape, `before`, to `after`.
void retype(mlir::Operation *op, mlir::RankedTensorType before, mlir::RankedTensorType after);

} // namespace trainc
