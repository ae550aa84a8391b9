// Memory of a plan and of the process that runs it.
#pragma once

#include "plan/facts/memory_by_kind.h"

#include <cstdint>

namespace trainc {

/// Bytes per rank: device memory by kind, and other spaces.
struct MemoryReport : BytesByKind {
  BytesByKind host; ///< in host memory, if the plan distinguishes it from device memory
  BytesByKind disk;
  /// All arenas together except those on disk: the exact number of bytes that the runtime allocates.
  int64_t peak = 0;
  /// Upper bound of the memory of a training process besides the arenas. It adds up the sizes of batches and
  /// staging buffers, and a measured bound for the program, its libraries, the plan with its kernels, and
  /// stacks (test/end_to_end/memory_test.py).
  int64_t unplanned = 0;
  int64_t minUnplanned = 0; ///< the part of `unplanned` that no setting reduces
  /// On a GPU, whose memory is separate: whether `unplanned` is the program's reserve (reserve_memory).
  bool isReserve = false;

  /// Planned bytes that count against a memory limit: the process's memory, or the GPU's.
  int64_t limited() const { return isReserve ? peak - host.total() : peak; }
  /// Minimum memory limit into which the plan fits.
  int64_t needed() const { return limited() + unplanned; }
};

} // namespace trainc
