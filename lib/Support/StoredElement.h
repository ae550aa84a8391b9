// Element types in memory.
#pragma once

#include "mlir/IR/BuiltinTypes.h"

namespace trainc {

/// The element type as stored: i1 takes a byte (i8), all others are their own.
mlir::Type storedElement(mlir::Type element);

} // namespace trainc
