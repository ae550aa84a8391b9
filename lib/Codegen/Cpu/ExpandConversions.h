// Conversions of bf16 and f16.
#pragma once

#include "mlir/IR/Operation.h"

namespace trainc::codegen {

/// Replaces conversions from and to bf16 by integer arithmetic, which gives the same bits on all levels, and
/// conversions between f16 and types other than f32 by two conversions.
void expandConversions(mlir::Operation *root);

} // namespace trainc::codegen
