// How many samples a memory limit allows at once, by what the backward computes again.
#pragma once

#include "tools/report/analysis.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainc::report {

/// The largest micro-batch of one activation checkpointing.
struct LargestBatch {
  std::string checkpointing;            ///< "none", "selective" or "full"
  uint64_t samples = 0;                 ///< of a micro-batch; 0 where not one fits
  double sampleSeconds = 0;             ///< of a step, for each of its samples, predicted; 0 without samples
  std::optional<double> times = {};     ///< the samples of `none`; none where not one of those fits
  std::optional<double> extraTime = {}; ///< share of the time that a sample takes with `none`
};

/// What `trainc compile --largest-batch` found, of each activation checkpointing, if the compiler's report
/// says so in our words: nobody verifies the report. Empty otherwise, and where nothing fits.
std::vector<LargestBatch> largestBatchesOf(const Analysis &analysis);

/// The limit that they fit into, in bytes; 0 where there are none.
uint64_t largestBatchesLimit(const Analysis &analysis);

} // namespace trainc::report
