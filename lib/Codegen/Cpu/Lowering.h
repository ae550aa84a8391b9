// The way of the kernel module from vector, arith, math and scf to the LLVM dialect.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace trainc::codegen {

/// Replaces exp, log, tanh, erf, sin, cos and rsqrt by polynomials (see MathLowering.h for the error bounds).
llvm::LogicalResult expandMath(mlir::Operation *root);

/// Replaces conversions to and from bf16 by arithmetic on integers, which is the same on all levels, and
/// those between f16 and anything but f32 by two.
void expandConversions(mlir::Operation *root);

/// Lowers all functions to the LLVM dialect; errors name the op that has no lowering.
llvm::LogicalResult lowerToLLVMDialect(mlir::ModuleOp kernels);

} // namespace trainc::codegen
