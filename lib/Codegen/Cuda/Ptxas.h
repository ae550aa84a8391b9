// NVIDIA's assembler, if the machine that compiles has it.
#pragma once

#include "lib/Codegen/Target.h"

#include "llvm/Support/Error.h"

namespace trainc::codegen {

/// An object for each GPU architecture that plans hold machine code for, in order; none if there is no
/// `ptxas` in the folder that `CUDA_PATH` names, on the `PATH`, or in /usr/local/cuda. The text is for GPUs
/// from `least` on, such as "sm_80". Fails with the assembler's words if it refuses the code.
llvm::Expected<std::vector<Object>> assemble(llvm::StringRef ptx, llvm::StringRef least);

} // namespace trainc::codegen
