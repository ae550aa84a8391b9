// Device memory and pinned host memory.
#include "test/emulator/libcuda/entry.h"

#include <algorithm>
#include <sys/mman.h>

namespace trainc::emulator {

namespace {

/// Free device memory, without that of the context and its modules.
uint64_t freeBytes(const Context &context) {
  const uint64_t free = context.device->memory.freeBytes();
  return free - std::min(free, context.ownBytes);
}

} // namespace

PinnedMemory::~PinnedMemory() { munmap(address, bytes); }

} // namespace trainc::emulator

using namespace trainc::emulator;

extern "C" {

CUresult CUDAAPI cuMemGetInfo(size_t *free, size_t *total) {
  return entry("cuMemGetInfo", [&](Call &call) {
    TRAINC_CU(call.needContext());
    if (!free || !total)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "a place for a number is null");
    *free = freeBytes(*call.context);
    *total = call.context->device->memory.limit();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMemAlloc(CUdeviceptr *address, size_t bytes) {
  return entry("cuMemAlloc", [&](Call &call) {
    TRAINC_CU(call.needContext());
    TRAINC_CU(call.needNoCapture());
    if (!address || bytes == 0)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "{} bytes for address {}", bytes, fmt::ptr(address));
    if (bytes > freeBytes(*call.context))
      return CUDA_ERROR_OUT_OF_MEMORY;
    *address = call.context->device->memory.allocate(bytes);
    if (*address == 0)
      return CUDA_ERROR_OUT_OF_MEMORY;
    call.context->allocations.emplace(*address, bytes);
    return CUDA_SUCCESS;
  });
}

/// Pending work that uses the memory fails, although hardware may wait for it: nothing guarantees that.
CUresult CUDAAPI cuMemFree(CUdeviceptr address) {
  return entry("cuMemFree", [&](Call &call) {
    TRAINC_CU(call.needContext());
    TRAINC_CU(call.needNoCapture());
    if (address == 0)
      return CUDA_SUCCESS;
    Device &device = *call.context->device;
    const auto found = call.context->allocations.find(address);
    if (found == call.context->allocations.end())
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "{:#x} is not an allocation of the current context: {}",
                         address, device.memory.describe(address));
    device.scheduler.pause(call.held);
    call.context->allocations.erase(address);
    device.memory.release(address);
    device.scheduler.resume();
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMemHostAlloc(void **address, size_t bytes, unsigned int flags) {
  return entry("cuMemHostAlloc", [&](Call &call) {
    constexpr unsigned kKnown =
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    TRAINC_CU(call.needContext());
    TRAINC_CU(call.needNoCapture());
    if (!address || bytes == 0 || (flags & ~kKnown) != 0)
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "{} bytes for address {}, flags {:#x}", bytes,
                         fmt::ptr(address), flags);
    void *made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED)
      return CUDA_ERROR_OUT_OF_MEMORY;
    call.driver.pinned.emplace(reinterpret_cast<uint64_t>(made), std::make_shared<PinnedMemory>(made, bytes));
    *address = made;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuMemFreeHost(void *address) {
  return entry("cuMemFreeHost", [&](Call &call) {
    TRAINC_CU(call.needContext());
    TRAINC_CU(call.needNoCapture());
    const auto found = call.driver.pinned.find(reinterpret_cast<uint64_t>(address));
    if (found == call.driver.pinned.end())
      return call.refuse(CUDA_ERROR_INVALID_VALUE, "{} is not pinned memory of cuMemHostAlloc",
                         fmt::ptr(address));
    // Pending work keeps the memory alive, and then detects that it was freed.
    found->second->freed = true;
    call.driver.pinned.erase(found);
    return CUDA_SUCCESS;
  });
}

} // extern "C"
