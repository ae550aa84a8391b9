// Owners of what the driver gives: streams, events, pinned memory, graphs.
#pragma once

#include "runtime/device/cuda/driver_library.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace trainc {

/// Owns one handle, which `Free` gives back.
template <typename Handle, typename Free> class CudaHandle {
public:
  CudaHandle() = default;
  explicit CudaHandle(Handle handle) : handle_(handle) {}
  CudaHandle(CudaHandle &&other) noexcept : handle_(std::exchange(other.handle_, Handle())) {}
  CudaHandle &operator=(CudaHandle &&other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  /// What it returns does not matter: after a failure of the device all of it is lost anyway.
  ~CudaHandle() {
    if (handle_ != Handle())
      Free()(handle_);
  }

  Handle get() const { return handle_; }

private:
  Handle handle_ = Handle();
};

struct FreeCudaStream {
  void operator()(CUstream stream) const { driver().cuStreamDestroy.raw(stream); }
};
struct FreeCudaEvent {
  void operator()(CUevent event) const { driver().cuEventDestroy.raw(event); }
};
struct FreeCudaGraph {
  void operator()(CUgraph graph) const { driver().cuGraphDestroy.raw(graph); }
};
struct FreeCudaGraphExec {
  void operator()(CUgraphExec graph) const { driver().cuGraphExecDestroy.raw(graph); }
};
struct FreePinned {
  void operator()(void *memory) const { driver().cuMemFreeHost.raw(memory); }
};
struct FreeDeviceMemory {
  void operator()(CUdeviceptr memory) const { driver().cuMemFree.raw(memory); }
};
using CudaStream = CudaHandle<CUstream, FreeCudaStream>;
using CudaEvent = CudaHandle<CUevent, FreeCudaEvent>;
using CudaGraph = CudaHandle<CUgraph, FreeCudaGraph>;
using CudaGraphExec = CudaHandle<CUgraphExec, FreeCudaGraphExec>;
using PinnedHandle = CudaHandle<void *, FreePinned>;
using DeviceMemory = CudaHandle<CUdeviceptr, FreeDeviceMemory>;

/// What memory of a GPU holds at first. Unwritten: whatever was there; tools then find reads of what no
/// kernel wrote.
enum class FirstBytes : uint8_t { Zero, Unwritten };

/// A stream beside the default one. Of two, the one of the lower `priority` goes first where both have work.
Result<CudaStream> makeCudaStream(int priority);

/// `isTimed`: cuEventElapsedTime() is asked about it, which makes recording it dearer.
Result<CudaEvent> makeCudaEvent(bool isTimed);

/// Memory of the host that the device's copies reach, on a border of pages, zeroed.
class PinnedMemory {
public:
  PinnedMemory() = default;
  static Result<PinnedMemory> create(uint64_t bytes);

  std::byte *data() const { return static_cast<std::byte *>(handle_.get()); }
  uint64_t size() const { return bytes_; }

private:
  PinnedMemory(PinnedHandle handle, uint64_t bytes) : handle_(std::move(handle)), bytes_(bytes) {}

  PinnedHandle handle_;
  uint64_t bytes_ = 0;
};

} // namespace trainc
