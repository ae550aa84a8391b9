// Rates of GPUs, for predictions.
#pragma once

#include "plan/cost/cluster_file.h"

#include "llvm/ADT/StringRef.h"

namespace trainc::codegen {

/// Returns the cluster of nodes with eight GPUs (examples/clusters) for the word `gpu` of train.program.
const Cluster &gpuCluster(llvm::StringRef word);

/// Whether cuDNN has a deterministic gradient of attention on the GPU: compute capability 9 and 10.
bool repeatsAttentionGradients(llvm::StringRef word);

/// Whether the GPU's tensor cores multiply fp8 numbers: compute capability 8.9 and later.
bool multipliesFp8(llvm::StringRef word);

/// Attribute of a module of kernels with the word `gpu`, unless it is the default.
inline constexpr llvm::StringLiteral kGpuAttr = "plan.gpu";

} // namespace trainc::codegen
