// Disk copies between the work of a GPU stream.
#pragma once

#include "runtime/device/cuda/cuda_arenas.h"
#include "runtime/device/cuda/cuda_fault.h"
#include "runtime/device/program.h"

#include <deque>

namespace trainc {

/// The disk side of copies, as host functions in stream order. Streams and graphs may run them repeatedly;
/// this object must outlive these.
class DiskTransfers {
public:
  /// `stage` is page-aligned memory through which device memory is copied. One copy at a time uses it.
  DiskTransfers(CudaArenas &arenas, const PinnedMemory &stage, CudaFault &fault)
      : arenas_(arenas), stage_(stage), fault_(fault) {}
  DiskTransfers(const DiskTransfers &) = delete;
  DiskTransfers &operator=(const DiskTransfers &) = delete;

  /// Enqueues a copy to or from disk.
  Status enqueue(const Program &program, const Step &step, const CopyStep &copy, uint64_t iteration,
                 CUstream stream);
  /// Deletes the transfers; none may run any more.
  void clear() { transfers_.clear(); }

private:
  struct Transfer {
    CudaFault &fault;
    const Program &program;
    const Step &step;
    DiskArena &arena;
    DeviceAddress onDisk;
    std::span<std::byte> memory;
    bool toDisk;
  };
  static void run(void *transfer);
  Status enqueueFile(const Transfer &transfer, CUstream stream);

  CudaArenas &arenas_;
  const PinnedMemory &stage_;
  CudaFault &fault_;
  std::deque<Transfer> transfers_; ///< a deque keeps addresses stable
};

} // namespace trainc
