// What GPUs can do, by the files of examples/clusters.
#include "lib/Codegen/Cuda/CudaMachine.h"

#include "runtime/cost/cluster_file.h"
#include "runtime/schema/cuda_levels.h"

using namespace trainc;

/// The verifier of programs knows the same words.
const Cluster &trainc::codegen::gpuCluster(llvm::StringRef word) {
  return *clusterOfGpu(std::string_view(word));
}

/// cuDNN's documentation of its deterministic algorithm; docs/explanation/gpus.md says what other GPUs do.
bool trainc::codegen::repeatsAttentionGradients(llvm::StringRef word) {
  const int major = gpuCluster(word).major;
  return major == 9 || major == 10;
}

bool trainc::codegen::multipliesFp8(llvm::StringRef word) {
  const Cluster &cluster = gpuCluster(word);
  return hasF8Products(cluster.major, cluster.minor);
}
