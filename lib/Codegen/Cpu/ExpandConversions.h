// Conversions of short floats.
#pragma once

#include "mlir/IR/Operation.h"

namespace trainc::codegen {

/// Replaces conversions to and from bf16 by arithmetic on integers, which is the same on all levels, and
/// those between f16 and anything but f32 by two.
void expandConversions(mlir::Operation *root);

} // namespace trainc::codegen
