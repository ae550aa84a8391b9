// The vendor's entry points that the library has, by the names that cuda.h gives them.
#pragma once

#include <algorithm>
#include <string_view>

namespace trainc::emulator {

inline constexpr std::string_view kEntryPoints[] = {
    "cuInit",
    "cuDriverGetVersion",
    "cuDeviceGetCount",
    "cuDeviceGet",
    "cuDeviceGetName",
    "cuDeviceGetAttribute",
    "cuDeviceGetUuid",
    "cuDeviceTotalMem",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease",
    "cuCtxSetCurrent",
    "cuCtxGetCurrent",
    "cuMemGetInfo",
    "cuMemAlloc",
    "cuMemFree",
    "cuMemHostAlloc",
    "cuMemFreeHost",
    "cuMemcpyHtoDAsync",
    "cuMemcpyDtoHAsync",
    "cuMemcpyDtoDAsync",
    "cuMemsetD8Async",
    "cuStreamCreateWithPriority",
    "cuStreamDestroy",
    "cuStreamSynchronize",
    "cuStreamQuery",
    "cuStreamWaitEvent",
    "cuStreamWriteValue32",
    "cuStreamBeginCapture",
    "cuStreamEndCapture",
    "cuStreamIsCapturing",
    "cuEventCreate",
    "cuEventDestroy",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuEventQuery",
    "cuEventElapsedTime",
    "cuModuleLoadDataEx",
    "cuModuleUnload",
    "cuModuleGetFunction",
    "cuFuncGetAttribute",
    "cuFuncSetAttribute",
    "cuLaunchKernel",
    "cuLaunchHostFunc",
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
    "cuGraphUpload",
    "cuGraphDestroy",
    "cuGraphExecDestroy",
    "cuGetErrorName",
    "cuGetErrorString",
};

/// The name of one of them; of any other it does not compile.
struct EntryName {
  consteval EntryName(const char *text) : name(text) {
    if (std::ranges::find(kEntryPoints, name) == std::ranges::end(kEntryPoints))
      throw "not in kEntryPoints";
  }
  std::string_view name;
};

} // namespace trainc::emulator
