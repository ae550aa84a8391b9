// RAII owners of driver objects: streams, events, pinned memory, graphs.
#pragma once

#include "base/device_address.h"
#include "runtime/cuda/driver_library.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace trainc {

/// Owns one handle and releases it with `Free`.
template <typename Handle, typename Free> class CudaHandle {
public:
  CudaHandle() = default;
  explicit CudaHandle(Handle handle) : handle_(handle) {}
  CudaHandle(CudaHandle &&other) noexcept : handle_(std::exchange(other.handle_, Handle())) {}
  CudaHandle &operator=(CudaHandle &&other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  /// The result is ignored: after a device failure all objects are lost anyway.
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

/// Creates a non-blocking stream. The lower `priority` value runs first.
Result<CudaStream> makeCudaStream(int priority);

/// `isTimed` enables cuEventElapsedTime(), which makes recording more expensive.
Result<CudaEvent> makeCudaEvent(bool isTimed);

/// Page-locked host memory for device copies, page-aligned and zeroed.
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
