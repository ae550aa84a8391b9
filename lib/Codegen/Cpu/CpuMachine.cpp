#include "lib/Codegen/Cpu/CpuMachine.h"

#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <thread>

using namespace trainc;

/// Per core: kernels of matrix products in f32 and, with instructions for them, in bf16, and those that
/// stream through memory. Ranks of one host exchange bytes through its memory.
static Machine ofCores(double cores, bool avx512, bool bf16) {
  const double flops = cores * (avx512 ? 105e9 : 75e9);
  return {.flopsPerSecond = flops,
          .bf16FlopsPerSecond = bf16 ? cores * 205e9 : flops,
          .bytesPerSecond = cores * 20e9,
          .launchSeconds = 3e-6,
          .linkBytesPerSecond = 6e9,
          .linkShareBesideCompute = 0.7,
          .meetSeconds = 20e-6};
}

Machine trainc::codegen::referenceCpu() { return ofCores(2, true, true); }

Machine trainc::codegen::thisCpu(int64_t ranks) {
  return ofCores(std::max(1.0, double(std::thread::hardware_concurrency()) / double(ranks)),
                 llvm::sys::getHostCPUFeatures().lookup("avx512f"),
                 llvm::sys::getHostCPUFeatures().lookup("avx512bf16"));
}
