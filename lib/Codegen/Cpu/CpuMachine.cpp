#include "lib/Codegen/Cpu/CpuMachine.h"

#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <thread>

using namespace trainc;

/// Number of cores of the machine in examples/clusters/cpu.json.
static constexpr double kReferenceCores = 2;

/// Rates of other products, as a share of the rate of f32 products with AVX-512 (docs/measurements): f32 with
/// AVX2; bf16 on the matrix unit, estimated from the bf16 pieces of f32 products
/// (docs/adr/0018-bf16-products.md).
static constexpr double kAvx2Share = 75. / 105, kMatrixUnitShare = 600. / 105;

const Cluster &trainc::codegen::referenceCpu() { return builtInCluster("cpu"); }

Machine trainc::codegen::thisCpu(int64_t ranks) {
  const Machine &reference = referenceCpu().machine;
  const double cores = double(std::max(1U, std::thread::hardware_concurrency())) / double(ranks);
  Machine machine = dividedAmong(reference, kReferenceCores / cores);
  // All cores share the same disk.
  machine.diskReadBytesPerSecond = reference.diskReadBytesPerSecond / double(ranks);
  machine.diskWriteBytesPerSecond = reference.diskWriteBytesPerSecond / double(ranks);
  const auto features = llvm::sys::getHostCPUFeatures();
  const double scale = cores / kReferenceCores, f32 = scale * reference.flopsPerSecond;
  const double flops = features.lookup("avx512f") ? f32 : kAvx2Share * f32;
  machine.flopsPerSecond = machine.tf32FlopsPerSecond = machine.f16FlopsPerSecond = flops;
  machine.attentionFlopsPerSecond = machine.libraryAttentionFlopsPerSecond =
      machine.libraryAttentionGradFlopsPerSecond = flops;
  machine.bf16FlopsPerSecond = features.lookup("amx-bf16")     ? kMatrixUnitShare * f32
                               : features.lookup("avx512bf16") ? machine.bf16FlopsPerSecond
                                                               : flops;
  machine.peakFlopsPerSecond = machine.bf16FlopsPerSecond;
  return machine;
}
