// Conversions to and from fp8 as instructions of GPUs.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace trainc::codegen {

/// Whether code converts numbers to or from fp8, which GPUs have instructions for from compute capability 8.9
/// on.
bool convertsFp8(mlir::ModuleOp kernels);

/// Replaces such conversions (arith.truncf of f32, arith.extf to f32) by NVVM's, which take two numbers at a
/// time. What is beyond the largest number becomes that.
void expandFp8Conversions(mlir::ModuleOp kernels);

} // namespace trainc::codegen
