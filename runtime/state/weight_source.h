// Sources of weights: a checkpoint, verified by its checksums, or a Hugging Face model.
#pragma once

#include "base/name_pattern.h"
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

/// Puts the tensors of several sources together, at least one, and renames each by the first of `rules` that
/// matches its name. The environment is that of the first source that has one. Errors (kInvalidInput) name a
/// tensor that is in two sources, two tensors that would have the same name, or a rule that matches none.
Result<WeightSource> joinSources(std::vector<WeightSource> sources, const std::vector<NameRule> &rules);

} // namespace trainc
