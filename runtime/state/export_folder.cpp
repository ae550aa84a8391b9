#include "runtime/state/export_folder.h"

#include "base/input_file.h"
#include "base/json_text.h"
#include "base/new_folder.h"
#include "runtime/state/durable_file.h"
#include "runtime/state/export_head.h"
#include "runtime/state/export_pairs.h"
#include "runtime/state/float_rounding.h"
#include "runtime/state/model_config.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <map>
#include <optional>
#include <set>

namespace trainc {

namespace {

namespace fs = std::filesystem;

/// Tensors to write, by the name of their output file.
using ExportFiles = std::map<std::string, std::vector<WeightOutput>>;

/// Fails unless each tensor can be written with the type that it has in `like`.
Status checkTypes(const ExportFiles &files) {
  for (const auto &[file, outputs] : files)
    for (const WeightOutput &output : outputs)
      if (output.dtype != output.source->dtype &&
          !(isRoundable(output.source->dtype) && isRoundingTarget(output.dtype)))
        return invalidInput(
            "tensor '{}' is {} in the checkpoint and {} in --like; expected F32, BF16 or F16 there",
            output.name, describe(*output.source), dtypeName(output.dtype));
  return {};
}

// --- Other files ---

/// Whether a file of a folder holds weights, in any format, or lists them.
bool isOfWeights(const fs::path &file) {
  constexpr std::string_view kEndings[] = {".safetensors", ".bin",  ".pt", ".pth",  ".gguf",      ".h5",
                                           ".msgpack",     ".onnx", ".ot", ".ckpt", ".index.json"};
  const std::string name = file.filename().string();
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return name.ends_with(ending); });
}

Status systemError(const fs::path &path, const std::error_code &error) {
  return failed("{}: {}", path.string(), error.message());
}

/// Copies the folder of further chat templates, and all files except those of weights.
Status copyOthers(const fs::path &like, const fs::path &output) {
  constexpr std::string_view kTemplates = "additional_chat_templates";
  std::error_code error;
  for (fs::directory_iterator each(like, error), end; !error && each != end; each.increment(error)) {
    const fs::path &path = each->path();
    const fs::path to = output / path.filename();
    if (each->is_regular_file(error) && !isOfWeights(path))
      fs::copy_file(path, to, error);
    else if (each->is_directory(error) && path.filename() == kTemplates)
      fs::copy(path, to, error);
    if (error)
      return systemError(path, error);
  }
  return error ? systemError(like, error) : Status();
}

/// Writes the index of weights that are split into several files: the name of each tensor's file.
Status writeIndex(const ExportFiles &files, const fs::path &output) {
  if (files.size() == 1 && files.begin()->first == "model.safetensors")
    return {};
  nlohmann::json index = {{"metadata", {{"total_size", 0}}}, {"weight_map", nlohmann::json::object()}};
  uint64_t bytes = 0;
  for (const auto &[file, outputs] : files)
    for (const WeightOutput &written : outputs) {
      index["weight_map"][written.name] = file;
      bytes += written.bytes();
    }
  index["metadata"]["total_size"] = bytes;
  const std::string text = index.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  return writeDurableFile(output / "model.safetensors.index.json", std::as_bytes(std::span(text)));
}

/// Reads the written weights' headers, and compares them with what was to be written.
Status checkWritten(const fs::path &output, const ExportFiles &files) {
  TRAINC_ASSIGN_OR_RETURN(const WeightFiles written, WeightFiles::open(output));
  for (const auto &[file, outputs] : files)
    for (const WeightOutput &wanted : outputs) {
      const WeightTensor *found = written.find(wanted.name);
      if (!found || found->shape != wanted.source->shape || found->dtype != wanted.dtype)
        return failed(
            "{}: tensor '{}' is not as it was written: expected {} of the shape of {}, found {}; the "
            "disk may be damaged",
            output.string(), wanted.name, dtypeName(wanted.dtype), describe(*wanted.source),
            found ? describe(*found) : "nothing");
    }
  return {};
}

/// The config.json of a folder; null if it has none.
Result<nlohmann::json> readConfig(const fs::path &folder) {
  std::error_code error;
  const fs::path path = folder / kConfigFile;
  if (!fs::exists(path, error))
    return nlohmann::json();
  TRAINC_ASSIGN_OR_RETURN(const std::string text, readWholeFile(path));
  TRAINC_ASSIGN_OR_RETURN(nlohmann::json config, parseJson(path.string(), text));
  return config;
}

/// Compares the checkpoint's own config.json, if it has one, with that of `like`. Returns the checkpoint's
/// head if it is a new one.
Result<std::optional<NewHead>> compareOwnConfig(const WeightSource &source, const fs::path &like) {
  std::error_code error;
  const fs::path folder = fs::is_directory(source.path, error) ? source.path : source.path.parent_path();
  TRAINC_ASSIGN_OR_RETURN(const nlohmann::json own, readConfig(folder));
  if (!own.is_object())
    return std::optional<NewHead>();
  TRAINC_RETURN_IF_ERROR(compareConfigs(own.dump(), like).status());
  TRAINC_ASSIGN_OR_RETURN(const nlohmann::json other, readConfig(like));
  return other.is_object() ? newHeadOf(own, other) : std::optional<NewHead>();
}

/// Decides the file, the name and the type of each tensor in the output.
Result<ExportFiles> planFiles(const WeightSource &source, const WeightFiles &weights, const fs::path &like) {
  TRAINC_ASSIGN_OR_RETURN(const std::vector<ExportPair> pairs, pairTensors(source.weights, weights, like));
  ExportFiles files;
  for (const ExportPair &pair : pairs)
    files[fs::path(pair.like->file).filename().string()].push_back(
        {pair.source, pair.like->name, pair.like->dtype});
  return files;
}

/// Does the same for a model with a new head. The head's tensors are appended to the last file, and have the
/// type of the last tensor that was trained.
Result<ExportFiles> planFilesOfNewHead(const WeightSource &source, const WeightFiles &weights,
                                       const fs::path &like, const NewHead &head,
                                       const WeightWriterOptions &options) {
  TRAINC_ASSIGN_OR_RETURN(const NewHeadPairs pairs,
                          pairTensorsOfNewHead(source.weights, weights, like, head.labels, head.oldLabels));
  ExportFiles files;
  std::set<std::string_view> names;
  std::optional<SafetensorsDType> type;
  for (const ExportPair &pair : pairs.pairs) {
    if (source.weights.find(pair.source->name) == pair.source) // no buffer of `like`
      type = pair.like->dtype;
    if (names.insert(pair.source->name).second) // an embedding has two pairs if the old head copies it
      files[fs::path(pair.like->file).filename().string()].push_back(
          {pair.source, pair.source->name, pair.like->dtype});
  }
  if (files.empty())
    return invalidInput("--like={}: its weights are not of the model of {}: no tensor is in both",
                        like.string(), source.weights.path());
  std::vector<WeightOutput> &last = files.rbegin()->second;
  std::vector<std::string> added;
  for (const WeightTensor *tensor : pairs.added) {
    last.push_back({tensor, tensor->name, type.value_or(tensor->dtype)});
    added.push_back(tensor->name);
  }
  if (options.warn)
    options.warn(
        fmt::format("the model has another head than {}: {} in place of {}", like.string(),
                    added.empty() ? "no tensor" : fmt::format("{}", fmt::join(added, ", ")),
                    pairs.dropped.empty() ? "no tensor" : fmt::format("{}", fmt::join(pairs.dropped, ", "))));
  return files;
}

Status writeFolder(const WeightSource &source, const ExportFiles &files, const std::optional<NewHead> &head,
                   const fs::path &like, const fs::path &output, WeightWriterOptions options) {
  uint64_t total = 0;
  for (const auto &[file, outputs] : files)
    for (const WeightOutput &written : outputs)
      total += written.source->bytes();
  WeightWriter writer(source, std::move(options), total);
  for (const auto &[file, outputs] : files)
    TRAINC_RETURN_IF_ERROR(writer.writeFile(output / file, outputs));
  TRAINC_RETURN_IF_ERROR(writeIndex(files, output));
  TRAINC_RETURN_IF_ERROR(copyOthers(like, output));
  if (head) {
    const std::string text =
        head->config.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    TRAINC_RETURN_IF_ERROR(writeDurableFile(output / kConfigFile, std::as_bytes(std::span(text))));
  }
  TRAINC_RETURN_IF_ERROR(checkWritten(output, files));
  writer.warnOfNonFinite();
  return {};
}

} // namespace

Status exportLike(const WeightSource &source, const fs::path &like, const fs::path &output,
                  WeightWriterOptions options) {
  std::error_code error;
  if (!fs::is_directory(like, error))
    return invalidInput("--like={}: expected the folder of the model whose weights the run began with; for a "
                        "GGUF file, write -o FILE.gguf",
                        like.string());
  TRAINC_ASSIGN_OR_RETURN(NewFolder folder, NewFolder::create("-o", output));
  TRAINC_ASSIGN_OR_RETURN(const WeightFiles weights, WeightFiles::open(like));
  TRAINC_ASSIGN_OR_RETURN(const std::optional<NewHead> head, compareOwnConfig(source, like));
  TRAINC_ASSIGN_OR_RETURN(const ExportFiles files,
                          head ? planFilesOfNewHead(source, weights, like, *head, options)
                               : planFiles(source, weights, like));
  TRAINC_RETURN_IF_ERROR(checkTypes(files));
  TRAINC_RETURN_IF_ERROR(writeFolder(source, files, head, like, folder.path(), std::move(options)));
  return folder.publish();
}

} // namespace trainc
