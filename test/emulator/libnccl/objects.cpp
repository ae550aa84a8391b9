#include "test/emulator/libnccl/objects.h"

#include "test/emulator/calls/handles.h"

#include <cstring>
#include <mutex>
#include <set>

namespace trainc::emulator {

namespace {

constexpr uint8_t kKindOfComms = 0x6e;

std::mutex objectsMutex;
HandleTable<ncclComm_t, Comm> &comms() {
  static HandleTable<ncclComm_t, Comm> table(kKindOfComms, "communicator");
  return table;
}
std::set<const void *> allocations;

} // namespace

std::shared_ptr<Comm> findComm(ncclComm_t handle, const char *entry) {
  const std::lock_guard lock(objectsMutex);
  std::shared_ptr<Comm> comm = comms().find(handle);
  if (!comm)
    noteError(fmt::format("{}: {}", entry, comms().whyNot(handle)));
  return comm;
}

ncclComm_t addComm(std::shared_ptr<Comm> comm) {
  const std::lock_guard lock(objectsMutex);
  return comms().add(std::move(comm));
}

void removeComm(ncclComm_t handle) {
  const std::lock_guard lock(objectsMutex);
  comms().remove(handle);
}

ncclResult_t allocate(void **pointer, size_t bytes) {
  CUdeviceptr address = 0;
  if (const CUresult result = cuMemAlloc(&address, bytes); result != CUDA_SUCCESS)
    return refuse(ncclUnhandledCudaError, "ncclMemAlloc of {} bytes: CUDA error {}", bytes,
                  static_cast<int>(result));
  *pointer = reinterpret_cast<void *>(address);
  const std::lock_guard lock(objectsMutex);
  allocations.insert(*pointer);
  return ncclSuccess;
}

ncclResult_t release(void *pointer) {
  {
    const std::lock_guard lock(objectsMutex);
    if (allocations.erase(pointer) == 0)
      return refuse(ncclInvalidArgument, "ncclMemFree: ncclMemAlloc did not give {}", pointer);
  }
  const CUresult result = cuMemFree(reinterpret_cast<CUdeviceptr>(pointer));
  return result == CUDA_SUCCESS
             ? ncclSuccess
             : refuse(ncclUnhandledCudaError, "ncclMemFree: CUDA error {}", static_cast<int>(result));
}

std::optional<std::array<unsigned char, 16>> currentGpu() {
  CUcontext current = nullptr;
  int devices = 0;
  if (cuCtxGetCurrent(&current) != CUDA_SUCCESS || current == nullptr ||
      cuDeviceGetCount(&devices) != CUDA_SUCCESS)
    return std::nullopt;
  for (CUdevice device = 0; device < devices; ++device) {
    CUcontext primary = nullptr;
    if (cuDevicePrimaryCtxRetain(&primary, device) != CUDA_SUCCESS)
      return std::nullopt;
    cuDevicePrimaryCtxRelease(device);
    CUuuid uuid{};
    if (primary != current || cuDeviceGetUuid(&uuid, device) != CUDA_SUCCESS)
      continue;
    std::array<unsigned char, 16> bytes{};
    std::memcpy(bytes.data(), uuid.bytes, bytes.size());
    return bytes;
  }
  return std::nullopt;
}

} // namespace trainc::emulator
