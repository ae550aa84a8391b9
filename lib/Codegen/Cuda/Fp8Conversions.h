// Conversions from and to fp8 by GPU instructions.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace trainc::codegen {

/// Whether the code converts from or to fp8; the instructions need compute capability 8.9.
bool convertsFp8(mlir::ModuleOp kernels);

/// Replaces fp8 conversions (arith.truncf of f32, arith.extf to f32) by NVVM's, which convert two numbers at
/// a time and saturate at the largest fp8 number.
void expandFp8Conversions(mlir::ModuleOp kernels);

} // namespace trainc::codegen
