#include "runtime/cuda/cuda_context.h"

#include "plan/schema/cuda_levels.h"

#include <algorithm>
#include <array>
#include <utility>

namespace trainc {

namespace {

Result<int> chooseGpu(CudaPlace place) {
  int count = 0;
  TRAINC_RETURN_IF_ERROR(driver().cuDeviceGetCount(&count));
  const auto gpus = static_cast<uint32_t>(count);
  if (gpus == 0)
    return CudaVendor::status("cuDeviceGetCount", CUDA_ERROR_NO_DEVICE);
  // A launcher may have restricted this rank to one GPU. Ranks that share it are detected when NCCL connects
  // them.
  if (gpus == 1)
    return 0;
  if (place.index >= gpus && !place.mayShare)
    return invalidInput(
        "rank {} of {} on this host: expected a GPU for each, found {}; start at most {} ranks on this host, "
        "or let each rank see all GPUs (CUDA_VISIBLE_DEVICES)",
        place.index, place.ranks, gpus, gpus);
  return static_cast<int>(place.index % gpus);
}

} // namespace

Result<CudaContext> CudaContext::open(CudaPlace place) {
  TRAINC_RETURN_IF_ERROR(loadDriver());
  TRAINC_ASSIGN_OR_RETURN(const int index, chooseGpu(place));
  CUdevice device = 0;
  TRAINC_RETURN_IF_ERROR(driver().cuDeviceGet(&device, index));
  CudaContext context(device);
  TRAINC_RETURN_IF_ERROR(context.describe());
  if (context.major_ < kMinCudaMajor)
    return invalidInput(
        "GPU {} ({}): expected compute capability {}.0 or higher (A100, RTX 30 or newer), found {}.{}; use "
        "another GPU, or run a plan for CPUs",
        index, context.name_, kMinCudaMajor, context.major_, context.minor_);
  const CUresult code = driver().cuDevicePrimaryCtxRetain.raw(&context.context_, device);
  if (code == CUDA_ERROR_OUT_OF_MEMORY) // the driver reports no sizes without a context
    return failed("GPU {} ({}): expected room for the driver's own part, found too little free memory; end "
                  "what else uses the GPU (nvidia-smi), or use another one",
                  index, context.name_);
  TRAINC_RETURN_IF_ERROR(driver().cuDevicePrimaryCtxRetain.status(code));
  TRAINC_RETURN_IF_ERROR(context.enter());
  return context;
}

Status CudaContext::describe() {
  std::array<char, 256> name{};
  TRAINC_RETURN_IF_ERROR(driver().cuDeviceGetName(name.data(), name.size(), device_));
  name_ = name.data();
  TRAINC_ASSIGN_OR_RETURN(major_, attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  TRAINC_ASSIGN_OR_RETURN(minor_, attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  TRAINC_ASSIGN_OR_RETURN(const int shared, attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  sharedBytes_ = static_cast<uint32_t>(shared);
  return {};
}

Result<int> CudaContext::attribute(CUdevice_attribute attribute) const {
  int value = 0;
  TRAINC_RETURN_IF_ERROR(driver().cuDeviceGetAttribute(&value, attribute, device_));
  return value;
}

CudaContext::CudaContext(CudaContext &&other) noexcept
    : device_(other.device_), context_(std::exchange(other.context_, nullptr)), name_(std::move(other.name_)),
      major_(other.major_), minor_(other.minor_), sharedBytes_(other.sharedBytes_) {}

CudaContext::~CudaContext() {
  if (context_ != nullptr)
    driver().cuDevicePrimaryCtxRelease.raw(device_);
}

Result<CudaMemory> CudaContext::memory() const {
  TRAINC_RETURN_IF_ERROR(enter());
  size_t free = 0, total = 0;
  TRAINC_RETURN_IF_ERROR(driver().cuMemGetInfo(&free, &total));
  return CudaMemory{free, total};
}

/// Leaves the bytes unchanged after a failure, when the driver reports nothing.
CudaMemoryTaken::~CudaMemoryTaken() {
  const Result<CudaMemory> after = context_.memory();
  if (before_.ok() && after.ok())
    bytes_ += before_->free - std::min(before_->free, after->free);
}

} // namespace trainc
