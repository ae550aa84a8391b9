#include "runtime/state/weight_source.h"

#include "runtime/state/checkpoint_files.h"
#include "runtime/state/checkpoint_folder.h"
#include "runtime/state/checkpoint_reader.h"

namespace trainc {

namespace fs = std::filesystem;

namespace {

bool has(const fs::path &folder, const char *name) {
  std::error_code error;
  return fs::exists(folder / name, error);
}

/// The checkpoint that `path` refers to, if any. A folder of checkpoints may also contain weights, such as
/// consolidated ones; the checkpoints take precedence.
std::optional<fs::path> checkpointAt(const fs::path &path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
    return path.filename() == kModelFile && has(folder, kTrainerStateFile) ? std::optional(folder)
                                                                           : std::nullopt;
  }
  // Only checkpoints have optimizer states, so a folder with some is one, even if incomplete.
  if (has(path, kTrainerStateFile) || has(path, kOptimizerFile))
    return path;
  const std::vector<uint64_t> steps = listCheckpoints(path);
  return steps.empty() ? std::nullopt : std::optional(path / checkpointName(steps.back()));
}

} // namespace

Result<WeightSource> openCheckpointWeights(const fs::path &path) {
  if (!has(path, kTrainerStateFile))
    return invalidInput("{}: the checkpoint is incomplete, it has no {}; use another one, or name its {} to "
                        "take weights that cannot be checked",
                        path.string(), kTrainerStateFile, kModelFile);
  TRAINC_ASSIGN_OR_RETURN(const Checkpoint checkpoint, Checkpoint::open(path));
  TRAINC_ASSIGN_OR_RETURN(SafetensorsView parameters, checkpoint.openParameters());
  const auto &files = checkpoint.state().files;
  WeightSource source{path,
                      WeightFiles(std::move(parameters)),
                      files.at(kModelFile),
                      {path / kTrainerStateFile},
                      checkpoint.state().environment};
  for (const auto &[name, checksums] : files)
    source.inputs.push_back(path / name);
  return source;
}

Result<WeightSource> openWeightSource(const fs::path &path) {
  if (checkpointAt(path))
    return openFound([&]() -> Result<fs::path> { return checkpointAt(path).value_or(path); },
                     openCheckpointWeights);
  std::error_code error;
  if (fs::is_directory(path, error)) {
    TRAINC_ASSIGN_OR_RETURN(const bool found, holdsWeights(path));
    if (!found)
      return invalidInput("{}: expected a checkpoint (trainer_state.json), checkpoints (step-NNNNNNNN), a "
                          "model.safetensors or a model.safetensors.index.json in this folder",
                          path.string());
  }
  if (path.filename() == kOptimizerFile)
    return invalidInput(
        "{}: expected weights, found the optimizer's states of a checkpoint; name its {}, or the "
        "checkpoint's folder",
        path.string(), kModelFile);
  TRAINC_ASSIGN_OR_RETURN(WeightFiles weights, WeightFiles::open(path));
  std::vector<fs::path> inputs = {weights.path()};
  for (const std::string &file : weights.filePaths())
    inputs.emplace_back(file);
  return WeightSource{path, std::move(weights), {}, std::move(inputs)};
}

} // namespace trainc
