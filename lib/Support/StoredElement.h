// Element types in memory.
#pragma once

#include "mlir/IR/BuiltinTypes.h"

namespace trainc {

/// Returns the element type in memory: i8 for i1, otherwise `element`.
mlir::Type storedElement(mlir::Type element);

/// Returns the bytes of an element in memory.
int64_t elementBytes(mlir::Type element);

/// Returns the bytes of a tensor in memory; `type` must be a ranked tensor type.
int64_t tensorBytes(mlir::Type type);

} // namespace trainc
