// A model's weights in one file: `trainc consolidate`.
#pragma once

#include "runtime/state/weight_source.h"

#include <functional>

namespace trainc {

struct ConsolidateOptions {
  SafetensorsDType dtype = SafetensorsDType::kF32; ///< of the floats: F32, BF16 or F16
  std::filesystem::path output;                    ///< none of the source's inputs
  /// Where set, called now and then with the bytes of weights done so far and in total; false ends the work.
  std::function<bool(uint64_t done, uint64_t total)> progress = {};
};

/// Writes all weights to options.output, in the order of their names, in a form that Hugging Face loads.
/// Floats become the nearest of the dtype, of two the even one; integers and booleans stay as they are. The
/// source is read once, in pieces: its size does not matter. The output appears when it is complete and its
/// source was as recorded; nothing is left behind otherwise. Fails with kInvalidInput where a tensor is
/// damaged, too large for the dtype, or of a dtype that is no plain number; kFailed where the output cannot
/// be written, or `progress` ended the work.
Status consolidate(const WeightSource &source, const ConsolidateOptions &options);

} // namespace trainc
