// Weights to consolidate or begin with: a checkpoint's, checked against what it records, or those of any
// Hugging Face model.
#pragma once

#include "runtime/formats/weight_files.h"
#include "runtime/state/file_checksums.h"

namespace trainc {

/// Weights, open.
struct WeightSource {
  std::filesystem::path path;                ///< what was opened, for messages
  WeightFiles weights;                       ///< headers verified
  FileChecksums recorded = {};               ///< of a checkpoint's tensors, which are not verified yet
  std::vector<std::filesystem::path> inputs; ///< files that belong to it, not to be replaced
};

/// The weights of the checkpoint in the folder `path`, the size and the header verified. Errors
/// (kInvalidInput) name the file, and what is missing or damaged.
Result<WeightSource> openCheckpointWeights(const std::filesystem::path &path);

/// `path`: a checkpoint's folder or its model.safetensors, a folder of checkpoints (then its latest), or what
/// WeightFiles::open takes. Errors (kInvalidInput) name the file, and what is missing or damaged.
Result<WeightSource> openWeightSource(const std::filesystem::path &path);

} // namespace trainc
