// The way of the kernel module from vector, arith, math and scf to the LLVM dialect and LLVM IR.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>

namespace trainc::codegen {

/// Lowers all functions to the LLVM dialect; errors name the op that has no lowering.
llvm::LogicalResult lowerToLLVMDialect(mlir::ModuleOp kernels);

/// Bitcode of a module in the LLVM dialect; modules of other threads are made from it.
llvm::Expected<std::string> translateToBitcode(mlir::ModuleOp kernels);

} // namespace trainc::codegen
