#include "lib/Codegen/Cuda/CudaMachine.h"

using namespace trainc;

Machine trainc::codegen::referenceGpu() {
  constexpr double kFlops = 67e12, kBf16Flops = 989e12, kBytes = 3.35e12, kNvLink = 450e9;
  return {.flopsPerSecond = 0.8 * kFlops,
          .bf16FlopsPerSecond = 0.8 * kBf16Flops,
          .bytesPerSecond = 0.9 * kBytes,
          .launchSeconds = 2e-6, // of a node of a graph
          .linkBytesPerSecond = 0.75 * kNvLink,
          .linkShareBesideCompute = 0.9,
          .meetSeconds = 15e-6};
}
