// The way of CPU kernels from IR to machine code.
#pragma once

#include "lib/Codegen/Target.h"

namespace trainc::codegen {

/// Compiles all kernels for every level that suits them (Levels.h). `kernels` is lowered to the LLVM dialect
/// on the way.
llvm::FailureOr<std::vector<Object>> compileObjects(mlir::ModuleOp kernels);

} // namespace trainc::codegen
