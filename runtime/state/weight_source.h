// Sources of weights: a checkpoint, verified by its checksums, or a Hugging Face model.
#pragma once

#include "runtime/formats/weight_files.h"
#include "runtime/state/file_checksums.h"

#include <map>
#include <string>

namespace trainc {

/// Open weight files.
struct WeightSource {
  std::filesystem::path path;  ///< path for messages
  WeightFiles weights;         ///< headers verified
  FileChecksums recorded = {}; ///< checksums of a checkpoint's tensors, which are not verified yet
  std::vector<std::filesystem::path> inputs;           ///< files of the source, which must not be overwritten
  std::map<std::string, std::string> environment = {}; ///< of a checkpoint's TrainerState
};

/// Opens the weights of the checkpoint in the folder `path`, and verifies size and header. Errors
/// (kInvalidInput) name the file, and what is missing or damaged.
Result<WeightSource> openCheckpointWeights(const std::filesystem::path &path);

/// `path` is a checkpoint's folder or its model.safetensors, a folder of checkpoints (whose latest is used),
/// or an argument of WeightFiles::open. Errors (kInvalidInput) name the file, and what is missing or damaged.
Result<WeightSource> openWeightSource(const std::filesystem::path &path);

} // namespace trainc
