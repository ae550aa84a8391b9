// GPU kernels of a plan.
#pragma once

#include "base/device_address.h"
#include "plan/schema/plan_generated.h"
#include "runtime/cuda/cuda_context.h"
#include "runtime/cuda/cuda_handles.h"

#include <span>
#include <string>
#include <vector>

namespace trainc {

/// A kernel and its launch configuration.
struct CudaKernel {
  CUfunction function = nullptr;
  uint32_t blocks = 1;
  uint32_t threads = 1;
  /// Shared memory beyond 48 KiB, passed at launch; smaller amounts are declared in the code.
  uint32_t dynamicSharedBytes = 0;
};

/// GPU kernels of a plan: machine code for this GPU if the plan has it, else PTX, which the driver compiles.
class CudaKernels {
public:
  CudaKernels() = default;
  /// Fails with kInvalidInput if the plan is not for GPUs, has no code for this one or lacks a kernel, or if
  /// a kernel has other parameters than the plan says or needs more threads or shared memory than available.
  static Result<CudaKernels> load(const fb::Plan &plan, const CudaContext &context);

  /// Enqueues plan.kernels[index] on a stream.
  Status launch(uint32_t index, std::span<const DeviceAddress> args, CUstream stream) const;
  /// Level of the object in use, e.g. "sm_90"; empty for a plan without kernels.
  const std::string &level() const { return level_; }

private:
  struct Unload {
    void operator()(CUmodule module) const { driver().cuModuleUnload.raw(module); }
  };
  Status loadModule(const fb::Plan &plan, const CudaContext &context);

  std::string level_;
  CudaHandle<CUmodule, Unload> module_;
  std::vector<CudaKernel> kernels_;
};

} // namespace trainc
