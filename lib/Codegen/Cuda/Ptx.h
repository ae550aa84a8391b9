// Machine code of kernels for NVIDIA's GPUs.
#pragma once

#include "lib/Codegen/Target.h"

namespace trainc::codegen {

/// PTX for the least capable GPU that plans are for, or that converts fp8 numbers where kernels do. The
/// kernels are lowered on the way. Emits an error at the module where code cannot be made.
llvm::FailureOr<std::string> compileToPtx(mlir::ModuleOp kernels);

/// PTX, and, if there is a `ptxas`, what it makes of that for each of `levels`, so that no driver need
/// compile it.
llvm::FailureOr<std::vector<Object>> compileForGpus(mlir::ModuleOp kernels,
                                                    llvm::ArrayRef<llvm::StringRef> levels);

} // namespace trainc::codegen
