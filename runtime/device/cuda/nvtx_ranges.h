// NVTX ranges of host work in the domain "trainc", for NVIDIA's profilers.
#pragma once

#include "runtime/device/program.h"

#include <cstdint>

namespace trainc {

/// A range of the calling thread; ranges nest. Costs one comparison if no profiler listens.
class NvtxRange {
public:
  /// Begins the range "step 12".
  static void beginStep(uint64_t number);
  static void endStep();

  /// A range named after the entry.
  explicit NvtxRange(const Program &entry);
  /// A range named after the source op and its location in the model.
  NvtxRange(const Program &program, const Step &step);
  NvtxRange(const NvtxRange &) = delete;
  NvtxRange &operator=(const NvtxRange &) = delete;
  ~NvtxRange();
};

} // namespace trainc
