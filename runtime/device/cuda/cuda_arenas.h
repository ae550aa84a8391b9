// Arenas of a plan: on the GPU, in pinned host memory, and on disk.
#pragma once

#include "plan/schema/plan_generated.h"
#include "runtime/cuda/cuda_context.h"
#include "runtime/cuda/cuda_handles.h"
#include "runtime/device/disk_arena.h"

#include <deque>
#include <vector>

namespace trainc {

/// Arenas, found by address. Device memory that peers access is allocated by the communicator and not listed
/// here.
class CudaArenas {
public:
  /// Allocates device memory, zeroed on `stream`; the stream is idle on return. Fails with kFailed and the
  /// free bytes if there is not enough memory.
  Result<DeviceAddress> allocate(std::string_view name, uint64_t bytes, FirstBytes first,
                                 const CudaContext &context, CUstream stream);
  /// Allocates zeroed host memory, or a disk arena in a folder (see DiskArena::create). Fails with kFailed if
  /// there is not enough memory or disk space.
  Result<DeviceAddress> allocateBeside(std::string_view name, fb::Space space, uint64_t bytes,
                                       const std::filesystem::path &diskFolder);

  /// Bytes in device and host memory.
  uint64_t bytes() const { return deviceBytes_ + hostBytes_; }
  uint64_t deviceBytes() const { return deviceBytes_; }

  /// Whether an address is a host address.
  bool isOnHost(DeviceAddress address) const;
  /// The disk arena that contains the address, or null. The pointer stays valid.
  DiskArena *diskArenaOf(DeviceAddress address);

private:
  std::vector<DeviceMemory> device_;
  std::vector<PinnedMemory> host_;
  std::deque<DiskArena> disk_;
  uint64_t deviceBytes_ = 0, hostBytes_ = 0;
};

} // namespace trainc
