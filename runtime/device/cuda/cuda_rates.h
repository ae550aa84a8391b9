// What a GPU can do at most, for the rooflines of profiles.
#pragma once

#include "runtime/device/cuda/cuda_context.h"
#include "runtime/device/device.h"

namespace trainc {

/// Copies within the GPU's memory between events on `stream`, and computes the rest from its clocks and its
/// number of multiprocessors.
Result<DeviceRates> measureGpu(const CudaContext &context, CUstream stream);

} // namespace trainc
