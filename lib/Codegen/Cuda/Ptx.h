// Machine code of kernels for NVIDIA's GPUs.
#pragma once

#include "lib/Codegen/Target.h"

namespace trainc::codegen {

/// PTX for the least capable GPU that plans are for, and, if there is a `ptxas`, what it makes of that for
/// newer ones, so that no driver need compile it. Emits an error at the module where code cannot be made.
llvm::FailureOr<std::vector<Object>> compileForGpus(mlir::ModuleOp kernels);

} // namespace trainc::codegen
