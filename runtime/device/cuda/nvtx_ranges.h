// Names of what the host does, for NVIDIA's profilers: ranges of NVTX in the domain "trainc".
#pragma once

#include "runtime/device/program.h"

#include <cstdint>

namespace trainc {

/// A range of the calling thread, within those that it has begun and not ended. Without a profiler that
/// listens it costs a comparison.
class NvtxRange {
public:
  /// "step 12".
  static void beginStep(uint64_t number);
  static void endStep();

  /// The name of the entry.
  explicit NvtxRange(const Program &entry);
  /// The source op and its place in the model.
  NvtxRange(const Program &program, const Step &step);
  NvtxRange(const NvtxRange &) = delete;
  NvtxRange &operator=(const NvtxRange &) = delete;
  ~NvtxRange();
};

} // namespace trainc
