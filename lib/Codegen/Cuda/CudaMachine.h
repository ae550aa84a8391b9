// What GPUs can do, for estimates.
#pragma once

#include "runtime/cost/cluster_file.h"

#include "llvm/ADT/StringRef.h"

namespace trainc::codegen {

/// By its word in train.program (`gpu`), in nodes of eight (examples/clusters).
const Cluster &gpuCluster(llvm::StringRef word);

/// Whether cuDNN has a gradient of attention there that repeats its bits: on compute capability 9 and 10.
bool repeatsAttentionGradients(llvm::StringRef word);

/// Whether its tensor cores multiply fp8 numbers: from compute capability 8.9 on.
bool multipliesFp8(llvm::StringRef word);

/// On a module of kernels: the word, unless it is the default.
inline constexpr llvm::StringLiteral kGpuAttr = "plan.gpu";

} // namespace trainc::codegen
