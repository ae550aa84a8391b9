#include "lib/Codegen/Cpu/CpuMachine.h"

#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <thread>

using namespace trainc;

/// Per core: kernels of matrix products in f32 and in bf16, and those that stream through memory. Ranks of
/// one host exchange bytes through its memory.
static Machine ofCores(double cores, double flops, double bf16Flops) {
  return {.name = "CPU",
          .peakFlopsPerSecond = cores * bf16Flops,
          .flopsPerSecond = cores * flops,
          .tf32FlopsPerSecond = cores * flops,
          .bf16FlopsPerSecond = cores * bf16Flops,
          .attentionFlopsPerSecond = cores * flops,
          .libraryAttentionFlopsPerSecond = cores * flops,
          .libraryAttentionGradFlopsPerSecond = cores * flops,
          .bytesPerSecond = cores * 20e9,
          .launchSeconds = 3e-6,
          .linkBytesPerSecond = 6e9,
          .linkShareBesideCompute = 0.7,
          .meetSeconds = 20e-6};
}

static constexpr double kAvx2 = 75e9, kAvx512 = 105e9, kPairs = 205e9;
/// Of bf16 numbers on the matrix unit: estimated from parts of f32 products on it
/// (docs/adr/0018-bf16-products.md).
static constexpr double kMatrixUnit = 600e9;

Machine trainc::codegen::referenceCpu() { return ofCores(2, kAvx512, kPairs); }

Machine trainc::codegen::thisCpu(int64_t ranks) {
  const auto features = llvm::sys::getHostCPUFeatures();
  const double cores = std::max(1.0, double(std::thread::hardware_concurrency()) / double(ranks));
  const double flops = features.lookup("avx512f") ? kAvx512 : kAvx2;
  return ofCores(cores, flops,
                 features.lookup("amx-bf16")     ? kMatrixUnit
                 : features.lookup("avx512bf16") ? kPairs
                                                 : flops);
}
