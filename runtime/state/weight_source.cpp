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
  for (const SafetensorsTensor &tensor : parameters.tensors())
    if (!files.at(kModelFile).tensors.contains(tensor.name))
      return invalidInput(
          "{}: expected a checksum of tensor '{}' in {}, found none; the checkpoint is damaged, "
          "use another one",
          path.string(), tensor.name, kTrainerStateFile);
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

/// Adds checksums of another source, whose tensors have other names. Blocks of all sources have equal sizes.
static Status joinChecksums(const WeightSource &source, FileChecksums &all) {
  if (source.recorded.bytes == 0)
    return {};
  all.tensors.insert(source.recorded.tensors.begin(), source.recorded.tensors.end());
  if (all.bytes > 0 && all.blockBytes != source.recorded.blockBytes)
    return invalidInput(
        "--init={}: checkpoints of different versions of trainrun cannot be put together; write "
        "one of them with trainc consolidate",
        source.path.string());
  all.bytes += source.recorded.bytes;
  all.blockBytes = source.recorded.blockBytes;
  return {};
}

Result<WeightSource> joinSources(std::vector<WeightSource> sources, const std::vector<NameRule> &rules) {
  if (sources.size() == 1 && rules.empty())
    return std::move(sources.front());
  FileChecksums recorded;
  std::vector<WeightFiles> parts;
  std::vector<fs::path> inputs;
  std::map<std::string, std::string> environment;
  for (WeightSource &source : sources) {
    TRAINC_RETURN_IF_ERROR(joinChecksums(source, recorded));
    parts.push_back(std::move(source.weights));
    inputs.insert(inputs.end(), source.inputs.begin(), source.inputs.end());
    if (environment.empty())
      environment = std::move(source.environment);
  }
  TRAINC_ASSIGN_OR_RETURN(WeightFiles weights, WeightFiles::join(std::move(parts)));
  std::vector<bool> used(rules.size());
  std::map<std::string, std::vector<uint64_t>> checksums;
  TRAINC_RETURN_IF_ERROR(weights.rename([&](const std::string &name) {
    std::string renamed = name;
    for (size_t i = 0; i < rules.size(); ++i)
      if (const std::optional<std::string> other = rules[i].rename(name)) {
        used[i] = true;
        renamed = *other;
        break;
      }
    if (const auto found = recorded.tensors.find(name); found != recorded.tensors.end())
      checksums[renamed] = found->second;
    return renamed;
  }));
  for (size_t i = 0; i < rules.size(); ++i)
    if (!used[i])
      return invalidInput("--rename='{}={}': no tensor of {} has such a name{}; `*` stands for any text",
                          rules[i].pattern, rules[i].replacement, weights.path(),
                          i > 0 ? " that no earlier --rename matches" : "");
  recorded.tensors = std::move(checksums);
  return WeightSource{sources.front().path, std::move(weights), std::move(recorded), std::move(inputs),
                      std::move(environment)};
}

} // namespace trainc
