// Initialisation and devices.
#include "test/emulator/libcuda/entry.h"

#include <cstring>
#include <unistd.h>

namespace trainc::emulator {

namespace {

/// Attributes in use; a test that needs another one adds it. Numbers are those of an H100.
std::optional<int> attributeOf(const Device &device, const Settings &settings, CUdevice_attribute attribute) {
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    return settings.major;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    return settings.minor;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
    return kMaxThreads;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
    return 64;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
    return 0x7fffffff;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
    return 0xffff;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
    return kSharedBytes;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    return kMaxSharedBytes;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    return 228 << 10;
  case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
    return 1 << 10;
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
    return 64 << 10;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
    return 2048;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    return 132;
  case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: // kHz
    return 1980000;
  case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
    return 2619000;
  case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
    return 5120;
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
    return 32;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
    return 50 << 20;
  case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
    return 3;
  case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
  case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
  case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    return 1;
  case CU_DEVICE_ATTRIBUTE_INTEGRATED:
  case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
  case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
  case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
    return 0;
  case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
    return static_cast<int>(device.index) + 1;
  default:
    return std::nullopt;
  }
}

/// Finds the device of an index.
CUresult needDevice(const Call &call, CUdevice index, Device *&device) {
  TRAINC_CU(call.needInit());
  device = call.driver.device(index);
  if (!device)
    return call.refuse(CUDA_ERROR_INVALID_DEVICE, "device {} of {}", index, call.driver.deviceCount());
  return CUDA_SUCCESS;
}

template <typename T> CUresult needPointer(const Call &call, const T *pointer) {
  return pointer ? CUDA_SUCCESS : call.refuse(CUDA_ERROR_INVALID_VALUE, "the place for the result is null");
}

} // namespace

} // namespace trainc::emulator

using namespace trainc::emulator;

extern "C" {

CUresult CUDAAPI cuInit(unsigned int flags) {
  {
    Driver &driver = Driver::get();
    std::unique_lock held(driver.lock.mutex);
    driver.configure(held); // before the call is counted: the environment may define a fault for it
  }
  return entry("cuInit", [&](Call &call) {
    if (flags != 0)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "flags {}, which must be 0", flags);
    if (call.driver.deviceCount() == 0)
      return CUDA_ERROR_NO_DEVICE;
    if (call.driver.process != 0 && call.driver.process != getpid())
      return call.needInit();
    call.driver.process = getpid();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDriverGetVersion(int *version) {
  return entry("cuDriverGetVersion", [&](Call &call) {
    TRAINC_CU(needPointer(call, version));
    *version = call.driver.settings.driver;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetCount(int *count) {
  return entry("cuDeviceGetCount", [&](Call &call) {
    TRAINC_CU(call.needInit());
    TRAINC_CU(needPointer(call, count));
    *count = static_cast<int>(call.driver.deviceCount());
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGet(CUdevice *device, int ordinal) {
  return entry("cuDeviceGet", [&](Call &call) {
    Device *found = nullptr;
    TRAINC_CU(needDevice(call, ordinal, found));
    TRAINC_CU(needPointer(call, device));
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetName(char *name, int length, CUdevice device) {
  return entry("cuDeviceGetName", [&](Call &call) {
    Device *found = nullptr;
    TRAINC_CU(needDevice(call, device, found));
    TRAINC_CU(needPointer(call, name));
    if (length <= 0)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "room for {} characters", length);
    const std::string text = call.driver.settings.name + " " + std::to_string(found->index);
    name[text.copy(name, static_cast<size_t>(length) - 1)] = '\0';
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  return entry("cuDeviceGetAttribute", [&](Call &call) {
    Device *found = nullptr;
    TRAINC_CU(needDevice(call, device, found));
    TRAINC_CU(needPointer(call, value));
    const std::optional<int> known = attributeOf(*found, call.driver.settings, attribute);
    if (!known)
      return call.refuse(CUDA_ERROR_INVALID_VALUE,
                         "attribute {} is not emulated; add it to device_entries.cpp",
                         static_cast<int>(attribute));
    *value = *known;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
  return entry("cuDeviceGetUuid", [&](Call &call) {
    Device *found = nullptr;
    TRAINC_CU(needDevice(call, device, found));
    TRAINC_CU(needPointer(call, uuid));
    CUuuid made;
    std::memset(made.bytes, 0xe0, sizeof made.bytes);
    std::memcpy(made.bytes, &found->index, sizeof found->index);
    *uuid = made;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceTotalMem(size_t *bytes, CUdevice device) {
  return entry("cuDeviceTotalMem", [&](Call &call) {
    Device *found = nullptr;
    TRAINC_CU(needDevice(call, device, found));
    TRAINC_CU(needPointer(call, bytes));
    *bytes = found->memory.limit();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGetErrorName(CUresult error, const char **text) {
  return entry("cuGetErrorName", [&](Call &call) {
    TRAINC_CU(needPointer(call, text));
    const ResultText *known = textOf(error);
    *text = known ? known->name : nullptr;
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult CUDAAPI cuGetErrorString(CUresult error, const char **text) {
  return entry("cuGetErrorString", [&](Call &call) {
    TRAINC_CU(needPointer(call, text));
    const ResultText *known = textOf(error);
    *text = known ? known->text : nullptr;
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

} // extern "C"
