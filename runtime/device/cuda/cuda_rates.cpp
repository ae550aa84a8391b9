#include "runtime/device/cuda/cuda_rates.h"

#include "plan/schema/gpu_peaks.h"
#include "runtime/cuda/cuda_handles.h"

#include <algorithm>

namespace trainc {

namespace {

/// FLOPs of one multiprocessor per cycle, multiply and add counted separately, without sparsity: products of
/// f32, of TF32, of bf16 and f16 with f32 accumulation, and of fp8 likewise.
struct CycleFlops {
  int major, minor;
  int f32, tf32, half, f8;
};
/// Sources: NVIDIA's architecture papers of A100, GA102, Ada, H100, Blackwell and RTX Blackwell. For B300,
/// Thor and GB10: the published FP4 rates, of which FP16 is a quarter. If products of one capability differ
/// (8.9: L40S and GeForce), the table has the higher rate.
constexpr CycleFlops kCycleFlops[] = {
    {8, 0, 128, 1024, 2048, 0},      {8, 6, 256, 256, 512, 0},        {8, 9, 256, 512, 1024, 2048},
    {9, 0, 256, 2048, 4096, 8192},   {10, 0, 256, 4096, 8192, 16384}, {10, 3, 256, 4096, 8192, 16384},
    {11, 0, 256, 4096, 8192, 16384}, {12, 0, 256, 256, 512, 1024},    {12, 1, 256, 512, 1024, 2048},
};

/// Bytes of the measured copy: several times the GPU's caches, and a fraction of the free memory.
constexpr uint64_t kMaxCopiedBytes = uint64_t{256} << 20;
constexpr uint64_t kFreePerCopied = 8;
constexpr int kMeasuredCopies = 5;

/// Memory transfers data on both clock edges.
Result<double> memoryBytes(const CudaContext &context) {
  TRAINC_ASSIGN_OR_RETURN(const int kilohertz, context.attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE));
  TRAINC_ASSIGN_OR_RETURN(const int bits, context.attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH));
  return 2e3 * kilohertz * bits / 8;
}

Status addFlops(DeviceRates &rates, const CudaContext &context) {
  const auto *const known = std::ranges::find_if(kCycleFlops, [&](const CycleFlops &each) {
    return each.major == context.major() && each.minor == context.minor();
  });
  if (known == std::end(kCycleFlops))
    return {};
  TRAINC_ASSIGN_OR_RETURN(const int processors, context.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  TRAINC_ASSIGN_OR_RETURN(const int kilohertz, context.attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE));
  const double cycles = 1e3 * kilohertz * processors;
  rates.f32Flops = cycles * known->f32;
  rates.tf32Flops = cycles * known->tf32;
  rates.halfFlops = cycles * known->half;
  rates.f8Flops = cycles * known->f8;
  rates.flopsSource =
      fmt::format("{} multiprocessors of compute capability {}.{} at their highest clock, {:.2f} GHz",
                  processors, known->major, known->minor, kilohertz * 1e-6);
  if (const double sheet = halfFlopsOnSheet(context.name()); sheet > 0) {
    rates.halfFlops = sheet;
    rates.tf32Flops = sheet / 2;
    rates.f8Flops = known->f8 > 0 ? 2 * sheet : 0;
    rates.flopsSource += "; TF32, bf16, f16 and fp8 by NVIDIA's data sheet";
  }
  return {};
}

/// Bandwidth of a copy, counting bytes read and written; the best of a few runs.
Result<double> copiedBytes(CUdeviceptr memory, uint64_t bytes, CUstream stream) {
  TRAINC_ASSIGN_OR_RETURN(const CudaEvent begin, makeCudaEvent(/*isTimed=*/true));
  TRAINC_ASSIGN_OR_RETURN(const CudaEvent end, makeCudaEvent(/*isTimed=*/true));
  TRAINC_RETURN_IF_ERROR(driver().cuMemsetD8Async(memory, 0, bytes, stream));
  double best = 0;
  for (int i = 0; i < kMeasuredCopies; ++i) {
    TRAINC_RETURN_IF_ERROR(driver().cuEventRecord(begin.get(), stream));
    TRAINC_RETURN_IF_ERROR(driver().cuMemcpyDtoDAsync(memory + bytes, memory, bytes, stream));
    TRAINC_RETURN_IF_ERROR(driver().cuEventRecord(end.get(), stream));
    TRAINC_RETURN_IF_ERROR(driver().cuStreamSynchronize(stream));
    float milliseconds = 0;
    TRAINC_RETURN_IF_ERROR(driver().cuEventElapsedTime(&milliseconds, begin.get(), end.get()));
    if (milliseconds > 0)
      best = std::max(best, 2.0 * static_cast<double>(bytes) / (double{milliseconds} * 1e-3));
  }
  return best;
}

} // namespace

Result<DeviceRates> measureGpu(const CudaContext &context, CUstream stream) {
  DeviceRates rates;
  TRAINC_ASSIGN_OR_RETURN(rates.memoryBytes, memoryBytes(context));
  TRAINC_RETURN_IF_ERROR(addFlops(rates, context));
  TRAINC_ASSIGN_OR_RETURN(const CudaMemory memory, context.memory());
  const uint64_t bytes = std::min(kMaxCopiedBytes, memory.free / kFreePerCopied);
  CUdeviceptr address = 0;
  if (bytes == 0 || driver().cuMemAlloc.raw(&address, 2 * bytes) != CUDA_SUCCESS)
    return rates;
  const DeviceMemory owner(address);
  TRAINC_ASSIGN_OR_RETURN(rates.copiedBytes, copiedBytes(address, bytes, stream));
  return rates;
}

} // namespace trainc
