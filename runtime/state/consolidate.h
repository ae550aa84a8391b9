// Writes a model's weights to one file: `trainc consolidate`.
#pragma once

#include "runtime/state/weight_source.h"

#include <functional>

namespace trainc {

struct ConsolidateOptions {
  SafetensorsDType dtype = SafetensorsDType::kF32; ///< type of floats in the output: F32, BF16 or F16
  std::filesystem::path output;                    ///< must not be an input of the source
  /// If set, called with a sentence about NaN and infinities among the weights, which are written as they
  /// are.
  std::function<void(const std::string &text)> warn = {};
  /// If set, called from time to time with the bytes done so far and in total; returns false to cancel.
  std::function<bool(uint64_t done, uint64_t total)> progress = {};
};

/// Writes all weights to options.output, sorted by name, in a form that Hugging Face loads. Floats are
/// rounded to the nearest value of the dtype, ties to even; integers and booleans are unchanged. The source
/// is read once, in pieces, so its size does not matter. The output is complete and verified, or absent.
/// Fails with kInvalidInput if a tensor is damaged, exceeds the range of the dtype, or has an unsupported
/// dtype; with kFailed if the output cannot be written or `progress` canceled.
Status consolidate(const WeightSource &source, const ConsolidateOptions &options);

} // namespace trainc
