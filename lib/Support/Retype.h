// Adaptation of copied ops to other shapes.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace trainc {

/// Replaces the type or shape `before` by `after` in attributes of `op` that spell its result's type or
/// shape.
void retype(mlir::Operation *op, mlir::RankedTensorType before, mlir::RankedTensorType after);

} // namespace trainc
