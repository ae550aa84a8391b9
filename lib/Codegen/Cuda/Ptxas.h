// NVIDIA's assembler, if the machine that compiles has it.
#pragma once

#include "lib/Codegen/Target.h"

#include "llvm/Support/Error.h"

namespace trainc::codegen {

/// Whether there is a `ptxas` in the folder that `CUDA_PATH` names, on the `PATH`, or in /usr/local/cuda.
bool hasPtxas();

/// An object for each of `levels`, in order; none if there is no `ptxas`. Fails with its words if it refuses
/// the code or does not know a level.
llvm::Expected<std::vector<Object>> assemble(llvm::StringRef ptx, llvm::ArrayRef<llvm::StringRef> levels);

} // namespace trainc::codegen
