// Copies to and from disk among what runs on a GPU.
#pragma once

#include "runtime/device/cuda/cuda_arenas.h"
#include "runtime/device/cuda/cuda_fault.h"
#include "runtime/device/program.h"

#include <deque>

namespace trainc {

/// The disk's parts of copies: functions of the host that run between those of a stream. What runs them may
/// do so more than once, and needs this to live.
class DiskTransfers {
public:
  /// `stage` is what device memory is copied through, on a border of pages. One copy at a time uses it.
  DiskTransfers(CudaArenas &arenas, const PinnedMemory &stage, CudaFault &fault)
      : arenas_(arenas), stage_(stage), fault_(fault) {}
  DiskTransfers(const DiskTransfers &) = delete;
  DiskTransfers &operator=(const DiskTransfers &) = delete;

  /// Enqueues a copy of which one side is on disk.
  Status enqueue(const Program &program, const Step &step, const CopyStep &copy, uint64_t iteration,
                 CUstream stream);
  /// Forgets those that have run for the last time.
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
  std::deque<Transfer> transfers_; ///< stay where they are
};

} // namespace trainc
