// Lowering of the kernel module from vector, arith, math and scf to the LLVM dialect and LLVM IR.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>

namespace trainc::codegen {

/// Lowers all functions to the LLVM dialect. Errors name the op that has no lowering.
llvm::LogicalResult lowerToLLVMDialect(mlir::ModuleOp kernels);

/// Returns the bitcode of a module in the LLVM dialect, from which other threads create modules.
llvm::Expected<std::string> translateToBitcode(mlir::ModuleOp kernels);

} // namespace trainc::codegen
