// Largest micro-batch under a memory limit, for each level of recomputation.
#pragma once

#include "tools/report/analysis.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainc::report {

/// The largest micro-batch with one activation checkpointing level.
struct LargestBatch {
  std::string checkpointing;            ///< "none", "selective" or "full"
  uint64_t samples = 0;                 ///< per micro-batch; 0 if not even one fits
  double sampleSeconds = 0;             ///< predicted step time per sample; 0 without samples
  std::optional<double> times = {};     ///< ratio to the samples with `none`; nothing if none fit there
  std::optional<double> extraTime = {}; ///< relative increase of the time per sample over `none`
};

/// Results of `trainc compile --largest-batch` for each checkpointing level, if the compile report, which is
/// not verified, has them in a known form. Empty otherwise, and if nothing fits.
std::vector<LargestBatch> largestBatchesOf(const Analysis &analysis);

/// The memory limit of these results in bytes; 0 if there are none.
uint64_t largestBatchesLimit(const Analysis &analysis);

} // namespace trainc::report
