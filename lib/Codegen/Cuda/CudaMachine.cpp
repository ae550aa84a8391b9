// Rates of GPUs, from the files of examples/clusters.
#include "lib/Codegen/Cuda/CudaMachine.h"

#include "plan/cost/cluster_file.h"
#include "plan/schema/cuda_levels.h"

using namespace trainc;

const Cluster &trainc::codegen::gpuCluster(llvm::StringRef word) {
  const Cluster *cluster = clusterOfGpu(std::string_view(word)); // a test compares words and files
  if (!cluster)
    llvm::report_fatal_error("examples/clusters has no file for the GPU " + word);
  return *cluster;
}

/// Source: cuDNN's documentation of its deterministic algorithm. docs/explanation/gpus.md describes other
/// GPUs.
bool trainc::codegen::repeatsAttentionGradients(llvm::StringRef word) {
  const int major = gpuCluster(word).major;
  return major == 9 || major == 10;
}

bool trainc::codegen::multipliesFp8(llvm::StringRef word) {
  const Cluster &cluster = gpuCluster(word);
  return hasF8Products(cluster.major, cluster.minor);
}
