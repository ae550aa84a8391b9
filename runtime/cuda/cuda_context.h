// The GPU of a rank, and its CUDA context.
#pragma once

#include "runtime/cuda/driver_library.h"

#include <string>

namespace trainc {

/// Selects a GPU among those that CUDA_VISIBLE_DEVICES leaves, in the order of CUDA_DEVICE_ORDER.
struct CudaPlace {
  /// Index of the rank on its host (LOCAL_RANK). A rank that sees only one GPU uses that one.
  uint32_t index = 0;
  uint32_t ranks = 1; ///< number of ranks on the host
  /// Whether ranks may share a GPU, which the communicator must support. Ranks then share GPUs round-robin.
  bool mayShare = false;
};

/// Bytes of a GPU's memory.
struct CudaMemory {
  uint64_t free = 0, total = 0;
};

/// The primary context of one GPU, which the vendor's libraries use as well. It is current in the thread that
/// opened it and in threads that call enter().
class CudaContext {
public:
  /// Loads the driver. Fails with kFailed if the driver or a GPU is missing; with kInvalidInput if the GPU is
  /// below compute capability 8.0, or if the rank sees several GPUs but fewer than the host has ranks.
  static Result<CudaContext> open(CudaPlace place);

  CudaContext(CudaContext &&other) noexcept;
  CudaContext &operator=(CudaContext &&) = delete;
  ~CudaContext();

  /// Makes the context current in the calling thread.
  Status enter() const { return driver().cuCtxSetCurrent(context_); }

  int index() const { return device_; }
  const std::string &name() const { return name_; } ///< "NVIDIA H100 80GB HBM3"
  int major() const { return major_; }              ///< major compute capability
  int minor() const { return minor_; }
  /// Maximum shared memory per block, in bytes.
  uint32_t sharedBytes() const { return sharedBytes_; }
  /// Fails with kFailed if the driver does not know the attribute.
  Result<int> attribute(CUdevice_attribute attribute) const;
  /// Current free and total memory; memory of other processes is not free.
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

/// Adds the decrease of the GPU's free memory during its lifetime to `bytes`.
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
