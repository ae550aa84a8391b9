#include "runtime/device/cuda/cuda_arenas.h"

#include "plan/schema/limits.h"

#include <algorithm>

namespace trainc {

namespace {

Result<DeviceMemory> allocateDevice(std::string_view name, uint64_t bytes, uint64_t asked,
                                    const CudaContext &context) {
  CUdeviceptr address = 0;
  const CUresult code = driver().cuMemAlloc.raw(&address, asked);
  if (code == CUDA_ERROR_OUT_OF_MEMORY) {
    TRAINC_ASSIGN_OR_RETURN(const CudaMemory memory, context.memory());
    return failed("arena '{}': expected {} bytes of GPU {} ({}), found {} free of {}", name, bytes,
                  context.index(), context.name(), memory.free, memory.total);
  }
  TRAINC_RETURN_IF_ERROR(driver().cuMemAlloc.status(code));
  return DeviceMemory(address);
}

Result<PinnedMemory> allocatePinned(std::string_view name, uint64_t bytes) {
  Result<PinnedMemory> memory = PinnedMemory::create(std::max<uint64_t>(bytes, 1));
  if (memory.ok())
    return memory;
  return failed("arena '{}': expected {} bytes of pinned memory of the host: {}; other programs may hold it, "
                "or ulimit -l forbids it",
                name, bytes, memory.status().message());
}

} // namespace

Result<DeviceAddress> CudaArenas::allocate(std::string_view name, uint64_t bytes, FirstBytes first,
                                           const CudaContext &context, CUstream stream) {
  // The driver guarantees an alignment of 256 bytes; large allocations happen to be page-aligned.
  const uint64_t asked = bytes + kArenaAlignment;
  TRAINC_ASSIGN_OR_RETURN(DeviceMemory memory, allocateDevice(name, bytes, asked, context));
  const CUdeviceptr address = device_.emplace_back(std::move(memory)).get();
  deviceBytes_ += bytes;
  if (first == FirstBytes::Zero) {
    TRAINC_RETURN_IF_ERROR(driver().cuMemsetD8Async(address, 0, asked, stream));
    TRAINC_RETURN_IF_ERROR(driver().cuStreamSynchronize(stream));
  }
  return DeviceAddress((address + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment);
}

Result<DeviceAddress> CudaArenas::allocateBeside(std::string_view name, fb::Space space, uint64_t bytes,
                                                 const std::filesystem::path &diskFolder) {
  if (space == fb::Space::Disk) {
    TRAINC_ASSIGN_OR_RETURN(DiskArena arena, DiskArena::create(name, bytes, diskFolder));
    return disk_.emplace_back(std::move(arena)).address();
  }
  TRAINC_ASSIGN_OR_RETURN(PinnedMemory memory, allocatePinned(name, bytes));
  hostBytes_ += bytes;
  return DeviceAddress(host_.emplace_back(std::move(memory)).data());
}

bool CudaArenas::isOnHost(DeviceAddress address) const {
  return std::ranges::any_of(host_, [&](const PinnedMemory &memory) {
    return address.value() - DeviceAddress(memory.data()).value() < memory.size(); // wraps below it
  });
}

DiskArena *CudaArenas::diskArenaOf(DeviceAddress address) {
  const auto found =
      std::ranges::find_if(disk_, [&](const DiskArena &arena) { return arena.holds(address); });
  return found == disk_.end() ? nullptr : &*found;
}

} // namespace trainc
