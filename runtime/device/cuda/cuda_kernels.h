// A plan's kernels on the GPU.
#pragma once

#include "runtime/base/device_address.h"
#include "runtime/device/cuda/cuda_context.h"
#include "runtime/device/cuda/cuda_handles.h"
#include "runtime/schema/plan_generated.h"

#include <span>
#include <string>
#include <vector>

namespace trainc {

/// A kernel, and how it is launched.
struct CudaKernel {
  CUfunction function = nullptr;
  uint32_t blocks = 1;
  uint32_t threads = 1;
  /// Shared memory beyond 48 KiB is given at the launch; less is declared in the code.
  uint32_t dynamicSharedBytes = 0;
};

/// The kernels of a plan for the GPU, from machine code for this GPU where the plan has it, else from PTX,
/// which the driver compiles.
class CudaKernels {
public:
  CudaKernels() = default;
  /// Fails (kInvalidInput) when the plan is not for GPUs, has no code that this one runs, or lacks a kernel,
  /// or when a kernel has other parameters than the plan says, or needs more threads or shared memory than
  /// there are.
  static Result<CudaKernels> load(const fb::Plan &plan, const CudaContext &context);

  /// Puts plan.kernels[index] on a stream.
  Status launch(uint32_t index, std::span<const DeviceAddress> args, CUstream stream) const;
  /// Of the object in use, e.g. "sm_90"; empty for a plan without kernels.
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
