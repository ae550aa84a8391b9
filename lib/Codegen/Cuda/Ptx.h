// Machine code of kernels for NVIDIA GPUs.
#pragma once

#include "lib/Codegen/Target.h"

namespace trainc::codegen {

/// Compiles to PTX for the lowest supported compute capability, or for the lowest with fp8 conversions if
/// kernels need them. Lowers the kernels. Reports an error at the module on failure.
llvm::FailureOr<std::string> compileToPtx(mlir::ModuleOp kernels);

/// Compiles to PTX and, if there is a `ptxas`, to machine code for each of `levels`, so that no driver need
/// compile PTX.
llvm::FailureOr<std::vector<Object>> compileForGpus(mlir::ModuleOp kernels,
                                                    llvm::ArrayRef<llvm::StringRef> levels);

} // namespace trainc::codegen
