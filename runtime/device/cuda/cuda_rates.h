// Peak rates of a GPU, for the rooflines of profiles.
#pragma once

#include "runtime/cuda/cuda_context.h"
#include "runtime/device/device.h"

namespace trainc {

/// Measures a copy within GPU memory by events on `stream`; computes the other rates from clocks and the
/// number of multiprocessors.
Result<DeviceRates> measureGpu(const CudaContext &context, CUstream stream);

} // namespace trainc
