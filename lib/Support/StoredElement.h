// Element types in memory.
#pragma once

#include "mlir/IR/BuiltinTypes.h"

namespace trainc {

/// The element type as stored: i1 takes a byte (i8), all others are their own.
mlir::Type storedElement(mlir::Type element);

/// Bytes of an element in memory.
int64_t elementBytes(mlir::Type element);

/// Bytes of a tensor in memory; `type` is a ranked tensor's.
int64_t tensorBytes(mlir::Type type);

} // namespace trainc
