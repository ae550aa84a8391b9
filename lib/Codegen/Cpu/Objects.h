// Compilation of CPU kernels from IR to machine code.
#pragma once

#include "lib/Codegen/Target.h"

namespace trainc::codegen {

/// Compiles all kernels for every applicable level (Levels.h). Lowers `kernels` to the LLVM dialect.
llvm::FailureOr<std::vector<Object>> compileObjects(mlir::ModuleOp kernels);

} // namespace trainc::codegen
