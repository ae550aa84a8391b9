// Copies of ops for other shapes.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace trainc {

/// Changes the attributes of `op` that spell its result's type or shape, `before`, to `after`.
void retype(mlir::Operation *op, mlir::RankedTensorType before, mlir::RankedTensorType after);

} // namespace trainc
