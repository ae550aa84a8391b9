// The CUDA driver, libcuda.so.1.
#pragma once

#include "base/vendor_library.h"

#include <cuda.h>

namespace trainc {

/// Translates the driver's result codes to Status; the only place that does.
struct CudaVendor {
  /// Ok for CUDA_SUCCESS; else kFailed with the call, the code's name and text, and advice.
  static Status status(const char *call, CUresult code);
};

/// Entry points that tell whether the driver is new enough for the rest; every driver has them.
#define TRAINC_DRIVER_BASICS(X) X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuGetErrorString)

#define TRAINC_DRIVER_ENTRIES(X)                                                                             \
  X(cuDeviceGetCount)                                                                                        \
  X(cuDeviceGet)                                                                                             \
  X(cuDeviceGetName)                                                                                         \
  X(cuDeviceGetAttribute)                                                                                    \
  X(cuDeviceGetUuid)                                                                                         \
  X(cuDevicePrimaryCtxRetain)                                                                                \
  X(cuDevicePrimaryCtxRelease)                                                                               \
  X(cuCtxSetCurrent)                                                                                         \
  X(cuMemGetInfo)                                                                                            \
  X(cuMemAlloc)                                                                                              \
  X(cuMemFree)                                                                                               \
  X(cuMemHostAlloc)                                                                                          \
  X(cuMemFreeHost)                                                                                           \
  X(cuMemcpyHtoDAsync)                                                                                       \
  X(cuMemcpyDtoHAsync)                                                                                       \
  X(cuMemcpyDtoDAsync)                                                                                       \
  X(cuMemsetD8Async)                                                                                         \
  X(cuStreamCreateWithPriority)                                                                              \
  X(cuStreamDestroy)                                                                                         \
  X(cuStreamSynchronize)                                                                                     \
  X(cuStreamQuery)                                                                                           \
  X(cuStreamWaitEvent)                                                                                       \
  X(cuStreamWriteValue32)                                                                                    \
  X(cuStreamBeginCapture)                                                                                    \
  X(cuStreamEndCapture)                                                                                      \
  X(cuEventCreate)                                                                                           \
  X(cuEventDestroy)                                                                                          \
  X(cuEventRecord)                                                                                           \
  X(cuEventQuery)                                                                                            \
  X(cuEventElapsedTime)                                                                                      \
  X(cuModuleLoadDataEx)                                                                                      \
  X(cuModuleUnload)                                                                                          \
  X(cuModuleGetFunction)                                                                                     \
  X(cuFuncGetAttribute)                                                                                      \
  X(cuFuncGetParamInfo)                                                                                      \
  X(cuFuncSetAttribute)                                                                                      \
  X(cuFuncLoad)                                                                                              \
  X(cuLaunchKernel)                                                                                          \
  X(cuLaunchHostFunc)                                                                                        \
  X(cuGraphInstantiateWithFlags)                                                                             \
  X(cuGraphLaunch)                                                                                           \
  X(cuGraphUpload)                                                                                           \
  X(cuGraphDestroy)                                                                                          \
  X(cuGraphExecDestroy)

/// Entry points, named as in the driver's header.
struct DriverLibrary {
#define TRAINC_DRIVER_ENTRY(name) TRAINC_VENDOR_ENTRY(CudaVendor, name);
  TRAINC_DRIVER_BASICS(TRAINC_DRIVER_ENTRY)
  TRAINC_DRIVER_ENTRIES(TRAINC_DRIVER_ENTRY)
#undef TRAINC_DRIVER_ENTRY
  int version = 0; ///< 13000: CUDA 13.0
};

/// Loads and initialises the driver, once per process. Fails with kFailed if the driver is missing, is older
/// than CUDA 13.0 or does not initialise, for example without a GPU.
Status loadDriver();

/// The library that loadDriver() has loaded.
const DriverLibrary &driver();

/// Text of a CUDA version: "13.0".
std::string cudaVersionText(int version);

} // namespace trainc
