// Memory of a plan that lies on a GPU, in pinned memory of its host, and on disk.
#pragma once

#include "runtime/device/cuda/cuda_context.h"
#include "runtime/device/cuda/cuda_handles.h"
#include "runtime/device/disk_arena.h"
#include "runtime/schema/plan_generated.h"

#include <deque>
#include <vector>

namespace trainc {

/// Arenas by their addresses. Device memory that peers reach comes from the communicator, and is not here.
class CudaArenas {
public:
  /// Device memory, zeroed on `stream`, which is then idle when it returns. Fails (kFailed), with what is
  /// free, when there is no such amount of it.
  Result<DeviceAddress> allocate(std::string_view name, uint64_t bytes, FirstBytes first,
                                 const CudaContext &context, CUstream stream);
  /// Zeroed memory of the host, or on disk in a folder (see DiskArena::create). Fails (kFailed) when there is
  /// no such amount of it.
  Result<DeviceAddress> allocateBeside(std::string_view name, fb::Space space, uint64_t bytes,
                                       const std::filesystem::path &diskFolder);

  /// In memory, the host's as well.
  uint64_t bytes() const { return deviceBytes_ + hostBytes_; }
  uint64_t deviceBytes() const { return deviceBytes_; }

  /// Whether an address is the host's.
  bool isOnHost(DeviceAddress address) const;
  /// Null where an address is not on disk. It stays where it is.
  DiskArena *diskArenaOf(DeviceAddress address);

private:
  std::vector<DeviceMemory> device_;
  std::vector<PinnedMemory> host_;
  std::deque<DiskArena> disk_;
  uint64_t deviceBytes_ = 0, hostBytes_ = 0;
};

} // namespace trainc
