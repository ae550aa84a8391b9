// NVIDIA's assembler, if it is installed.
#pragma once

#include "lib/Codegen/Target.h"

#include "llvm/Support/Error.h"

namespace trainc::codegen {

/// Called with the path of a `ptxas` and a level that it does not support.
using LeftOut = llvm::function_ref<void(llvm::StringRef ptxas, llvm::StringRef level)>;

/// Whether there is a `ptxas` in the folders `CUDA_PATH` and `CUDA_HOME`, in /usr/local/cuda, or on the
/// `PATH`.
bool hasPtxas();

/// Returns an object for each of `levels` that `ptxas` supports, in order; none without a `ptxas`. Fails with
/// its messages if it rejects the code.
llvm::Expected<std::vector<Object>> assemble(llvm::StringRef ptx, llvm::ArrayRef<llvm::StringRef> levels,
                                             LeftOut leftOut);

} // namespace trainc::codegen
