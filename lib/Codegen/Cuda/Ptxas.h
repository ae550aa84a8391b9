// NVIDIA's assembler, if the machine that compiles has it.
#pragma once

#include "lib/Codegen/Target.h"

#include "llvm/Support/Error.h"

namespace trainc::codegen {

/// Called with the path of a `ptxas` and an architecture that it is too old for.
using LeftOut = llvm::function_ref<void(llvm::StringRef ptxas, llvm::StringRef architecture)>;

/// An object for each GPU architecture that plans hold machine code for, in order; none if there is no
/// `ptxas` in the folders that `CUDA_PATH` and `CUDA_HOME` name, in /usr/local/cuda, or on the `PATH`. The
/// text is for GPUs from `least` on, such as "sm_80". Architectures that it does not know are left out. Fails
/// with its words if it refuses the code.
llvm::Expected<std::vector<Object>> assemble(llvm::StringRef ptx, llvm::StringRef least, LeftOut leftOut);

} // namespace trainc::codegen
