// NVIDIA's assembler, if the machine that compiles has it.
#pragma once

#include "lib/Codegen/Target.h"

#include "llvm/Support/Error.h"

namespace trainc::codegen {

/// Called with the path of a `ptxas` and a level that it is too old for.
using LeftOut = llvm::function_ref<void(llvm::StringRef ptxas, llvm::StringRef level)>;

/// Whether there is a `ptxas` in the folders that `CUDA_PATH` and `CUDA_HOME` name, in /usr/local/cuda, or on
/// the `PATH`.
bool hasPtxas();

/// An object for each of `levels` that `ptxas` knows, in order; none if there is no `ptxas`. Fails with its
/// words if it refuses the code.
llvm::Expected<std::vector<Object>> assemble(llvm::StringRef ptx, llvm::ArrayRef<llvm::StringRef> levels,
                                             LeftOut leftOut);

} // namespace trainc::codegen
