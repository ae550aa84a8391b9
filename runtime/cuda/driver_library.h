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

/// Entry points, named as in the driver's header.
struct DriverLibrary : VendorTable {
  using Vendor = CudaVendor;
  TRAINC_VENDOR_BASIC(cuInit);
  TRAINC_VENDOR_BASIC(cuDriverGetVersion);
  TRAINC_VENDOR_BASIC(cuGetErrorName);
  TRAINC_VENDOR_BASIC(cuGetErrorString);
  TRAINC_VENDOR_ENTRY(cuDeviceGetCount);
  TRAINC_VENDOR_ENTRY(cuDeviceGet);
  TRAINC_VENDOR_ENTRY(cuDeviceGetName);
  TRAINC_VENDOR_ENTRY(cuDeviceGetAttribute);
  TRAINC_VENDOR_ENTRY(cuDeviceGetUuid);
  TRAINC_VENDOR_ENTRY(cuDevicePrimaryCtxRetain);
  TRAINC_VENDOR_ENTRY(cuDevicePrimaryCtxRelease);
  TRAINC_VENDOR_ENTRY(cuCtxSetCurrent);
  TRAINC_VENDOR_ENTRY(cuMemGetInfo);
  TRAINC_VENDOR_ENTRY(cuMemAlloc);
  TRAINC_VENDOR_ENTRY(cuMemFree);
  TRAINC_VENDOR_ENTRY(cuMemHostAlloc);
  TRAINC_VENDOR_ENTRY(cuMemFreeHost);
  TRAINC_VENDOR_ENTRY(cuMemcpyHtoDAsync);
  TRAINC_VENDOR_ENTRY(cuMemcpyDtoHAsync);
  TRAINC_VENDOR_ENTRY(cuMemcpyDtoDAsync);
  TRAINC_VENDOR_ENTRY(cuMemsetD8Async);
  TRAINC_VENDOR_ENTRY(cuStreamCreateWithPriority);
  TRAINC_VENDOR_ENTRY(cuStreamDestroy);
  TRAINC_VENDOR_ENTRY(cuStreamSynchronize);
  TRAINC_VENDOR_ENTRY(cuStreamQuery);
  TRAINC_VENDOR_ENTRY(cuStreamWaitEvent);
  TRAINC_VENDOR_ENTRY(cuStreamWriteValue32);
  TRAINC_VENDOR_ENTRY(cuStreamBeginCapture);
  TRAINC_VENDOR_ENTRY(cuStreamEndCapture);
  TRAINC_VENDOR_ENTRY(cuEventCreate);
  TRAINC_VENDOR_ENTRY(cuEventDestroy);
  TRAINC_VENDOR_ENTRY(cuEventRecord);
  TRAINC_VENDOR_ENTRY(cuEventQuery);
  TRAINC_VENDOR_ENTRY(cuEventElapsedTime);
  TRAINC_VENDOR_ENTRY(cuModuleLoadDataEx);
  TRAINC_VENDOR_ENTRY(cuModuleUnload);
  TRAINC_VENDOR_ENTRY(cuModuleGetFunction);
  TRAINC_VENDOR_ENTRY(cuFuncGetAttribute);
  TRAINC_VENDOR_ENTRY(cuFuncGetParamInfo);
  TRAINC_VENDOR_ENTRY(cuFuncSetAttribute);
  TRAINC_VENDOR_ENTRY(cuFuncLoad);
  TRAINC_VENDOR_ENTRY(cuLaunchKernel);
  TRAINC_VENDOR_ENTRY(cuLaunchHostFunc);
  TRAINC_VENDOR_ENTRY(cuGraphInstantiateWithFlags);
  TRAINC_VENDOR_ENTRY(cuGraphLaunch);
  TRAINC_VENDOR_ENTRY(cuGraphUpload);
  TRAINC_VENDOR_ENTRY(cuGraphDestroy);
  TRAINC_VENDOR_ENTRY(cuGraphExecDestroy);
  int version = 0; ///< 13000: CUDA 13.0

  Status load();
};

/// Loads and initialises the driver, once per process. Fails with kFailed if the driver is missing, is older
/// than CUDA 13.0 or does not initialise, for example without a GPU.
Status loadDriver();

/// The library that loadDriver() has loaded.
const DriverLibrary &driver();

/// Text of a CUDA version: "13.0".
std::string cudaVersionText(size_t version);

} // namespace trainc
