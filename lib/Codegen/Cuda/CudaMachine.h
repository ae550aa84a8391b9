// What GPUs can do, for estimates.
#pragma once

#include "lib/Analysis/Machine.h"

namespace trainc::codegen {

/// Which GPU a program is for that names none.
inline constexpr llvm::StringLiteral kDefaultGpu = "h100-sxm";

/// By its word in train.program (`gpu`), in a machine of eight.
Machine gpuMachine(llvm::StringRef word);

/// Whether cuDNN has a gradient of attention there that repeats its bits: on compute capability 9 and 10.
bool repeatsAttentionGradients(llvm::StringRef word);

/// Whether its tensor cores multiply fp8 numbers: from compute capability 8.9 on.
bool multipliesFp8(llvm::StringRef word);

/// On a module of kernels: the word, unless it is the default.
inline constexpr llvm::StringLiteral kGpuAttr = "plan.gpu";

} // namespace trainc::codegen
