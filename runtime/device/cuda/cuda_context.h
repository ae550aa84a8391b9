// The GPU of a rank, and this process's place on it.
#pragma once

#include "runtime/device/cuda/driver_library.h"

#include <string>

namespace trainc {

/// Which GPU, of those that CUDA_VISIBLE_DEVICES leaves, in the order of CUDA_DEVICE_ORDER.
struct CudaPlace {
  /// Of the rank among those of its host (LOCAL_RANK). A rank that sees one GPU takes that one.
  uint32_t index = 0;
  uint32_t ranks = 1; ///< on the host
  /// Ranks may share a GPU: the communicator can do with that. They then take turns.
  bool mayShare = false;
};

/// Bytes of a GPU's memory.
struct CudaMemory {
  uint64_t free = 0, total = 0;
};

/// The primary context of one GPU, which the vendor's libraries use as well. It is the current one of the
/// thread that made it, and of those that call enter().
class CudaContext {
public:
  /// Loads the driver. Fails (kFailed) when there is none, or no GPU; (kInvalidInput) when the GPU is below
  /// compute capability 8.0, or the rank sees several GPUs and the host has more ranks than that.
  static Result<CudaContext> open(CudaPlace place);

  CudaContext(CudaContext &&other) noexcept;
  CudaContext &operator=(CudaContext &&) = delete;
  ~CudaContext();

  /// Makes it the calling thread's.
  Status enter() const { return driver().cuCtxSetCurrent(context_); }

  int index() const { return device_; }
  const std::string &name() const { return name_; } ///< "NVIDIA H100 80GB HBM3"
  int major() const { return major_; }              ///< of the compute capability
  int minor() const { return minor_; }
  /// Shared memory that a block may have at most.
  uint32_t sharedBytes() const { return sharedBytes_; }
  /// Fails (kFailed) where the driver does not know it.
  Result<int> attribute(CUdevice_attribute attribute) const;
  /// Other processes' memory is not free.
  Result<CudaMemory> memory() const;

private:
  explicit CudaContext(CUdevice device) : device_(device) {}
  Status describe();

  CUdevice device_;
  CUcontext context_ = nullptr;
  std::string name_;
  int major_ = 0, minor_ = 0;
  uint32_t sharedBytes_ = 0;
};

/// While one lives, what is taken of the GPU's memory and kept is added to a number of bytes.
class [[nodiscard]] CudaMemoryTaken {
public:
  CudaMemoryTaken(const CudaContext &context, uint64_t &bytes)
      : context_(context), bytes_(bytes), before_(context.memory()) {}
  CudaMemoryTaken(const CudaMemoryTaken &) = delete;
  CudaMemoryTaken &operator=(const CudaMemoryTaken &) = delete;
  ~CudaMemoryTaken();

private:
  const CudaContext &context_;
  uint64_t &bytes_;
  Result<CudaMemory> before_;
};

} // namespace trainc
