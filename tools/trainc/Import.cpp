// `trainc import`: model text from the config.json of a model in Hugging Face's form, or a folder from a GGUF
// file.
#include "lib/Import/Import.h"

#include "base/file.h"
#include "base/input_file.h"
#include "base/json_text.h"
#include "base/new_folder.h"
#include "base/output_file.h"
#include "base/print.h"
#include "runtime/data/tokenizer/gguf_tokenizer.h"
#include "runtime/formats/gguf_config.h"
#include "runtime/state/consolidate.h"
#include "tools/trainc/Commands.h"
#include "tools/trainc/LongWork.h"
#include "tools/trainc/Paths.h"

#include <array>
#include <fmt/ranges.h>

namespace trainc {

namespace {

/// The config of a folder, or the file itself.
std::filesystem::path configOf(const std::filesystem::path &model) {
  std::error_code error;
  return std::filesystem::is_directory(model, error) ? model / "config.json" : model;
}

/// The name of the folder with the config, as a file for the text in the current folder.
std::filesystem::path usualOutput(const std::filesystem::path &config) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::weakly_canonical(config, error).parent_path();
  const std::string name = folder.filename().string();
  return (error || name.empty() ? "model" : name) + ".mlir";
}

Status writeText(const std::filesystem::path &path, std::string_view text) {
  return writeFileAtomically(path, std::array{std::as_bytes(std::span(text))});
}

/// Fails if `output` holds something else than the text of a model.
Status requireModelText(const std::filesystem::path &output) {
  if (bytesToLose(output) == 0)
    return {};
  TRAINC_ASSIGN_OR_RETURN(const std::string text, readWholeFile(output));
  return text.find("nn.model") != std::string::npos ? Status()
                                                    : otherContent("-o ", output, "a model's text");
}

constexpr uint64_t kMaxConfigBytes = uint64_t{64} << 20;

std::string describeModel(const importer::ImportedModel &model, const std::filesystem::path &text) {
  return fmt::format("{} with {} parameters; `trainc compile {}` comes next", model.architecture,
                     model.parameters, text.string());
}

Result<importer::ImportOptions> optionsOf(const ImportCommand &command) {
  importer::ImportOptions options;
  options.reading = {.keepsDropout = !command.noDropout};
  options.labels = command.labels;
  options.hasTokenTypes = command.tokenTypes;
  options.isPacked = command.packed;
  if (command.task.empty())
    return options;
  std::vector<std::string_view> known;
  for (const auto &[task, name] : importer::kTaskNames) {
    if (name == command.task)
      options.task = task;
    known.emplace_back(name);
  }
  if (!options.task)
    return invalidInput("--task={}: expected {}", command.task, fmt::join(known, ", "));
  return options;
}

Status importConfig(const ImportCommand &command) {
  const std::filesystem::path config = configOf(command.model);
  TRAINC_ASSIGN_OR_RETURN(const std::string text, readWholeFile(config, kMaxConfigBytes));
  TRAINC_ASSIGN_OR_RETURN(const importer::ImportOptions options, optionsOf(command));
  TRAINC_ASSIGN_OR_RETURN(const importer::ImportedModel model,
                          importer::importModel(config.string(), text, options));
  if (command.dryRun)
    return printOutput(model.uses.describe());
  const std::filesystem::path output =
      command.output.empty() ? usualOutput(config) : std::filesystem::path(command.output);
  TRAINC_RETURN_IF_ERROR(checkOutputs({{"-o " + output.string(), output}}, {{"the config", config}}));
  TRAINC_RETURN_IF_ERROR(requireModelText(output));
  TRAINC_RETURN_IF_ERROR(writeText(output, model.text));
  if (!command.quiet)
    putMessage(stderr, model.uses.describe());
  sayWritten(command.quiet, output.string(), describeModel(model, output));
  return {};
}

// --- GGUF ---

/// The ids of tokens that a GGUF file names, in the form of Hugging Face's generation_config.json.
std::string generationConfigOf(const GgufFile &file) {
  nlohmann::json config = nlohmann::json::object();
  for (const auto &[key, name] : {std::pair("bos", "bos_token_id"), std::pair("eos", "eos_token_id"),
                                  std::pair("padding", "pad_token_id")})
    if (const auto id = file.count(fmt::format("tokenizer.ggml.{}_token_id", key)); id.ok() && *id)
      config[name] = **id;
  return config.dump(2) + "\n";
}

/// Writes the folder of a GGUF file's model: text, config, weights, tokenizer and chat template.
Status writeFolder(const WeightSource &source, const GgufFile &file, const std::string &config,
                   const importer::ImportedModel &model, const std::filesystem::path &folder) {
  nlohmann::json whole = tryParseJson(config);
  whole["architectures"] = {model.architecture};
  TRAINC_RETURN_IF_ERROR(writeText(folder / "config.json", whole.dump(2) + "\n"));
  TRAINC_RETURN_IF_ERROR(writeText(folder / "generation_config.json", generationConfigOf(file)));
  if (const Result<std::string> tokenizer = tokenizerJsonOf(file); tokenizer.ok())
    TRAINC_RETURN_IF_ERROR(writeText(folder / "tokenizer.json", *tokenizer));
  else
    putMessage(stderr, fmt::format("warning: no tokenizer.json: {}\n", tokenizer.status().message()));
  if (const GgufValue *found = file.find("tokenizer.chat_template"))
    if (const auto *chat = std::get_if<std::string_view>(found))
      TRAINC_RETURN_IF_ERROR(writeText(folder / "chat_template.jinja", *chat));
  WeightWriterOptions options;
  TRAINC_RETURN_IF_ERROR(runLongWork("imported", [&](const auto &progress) {
    options.progress = progress;
    return consolidate(source, folder / "model.safetensors", SafetensorsDType::kF32, options);
  }));
  return writeText(folder / "model.mlir", model.text);
}

/// Fails unless the file has as many numbers as the imported model.
Status checkParameters(const WeightSource &source, const importer::ImportedModel &model) {
  uint64_t numbers = 0;
  for (const WeightTensor &tensor : source.weights.tensors())
    numbers += tensor.elements();
  if (numbers == uint64_t(model.parameters))
    return {};
  return invalidInput(
      "{}: its metadata describe {} with {} parameters, but its tensors have {} numbers; import the "
      "model's Hugging Face folder",
      source.path.string(), model.architecture, model.parameters, numbers);
}

Status importGguf(const ImportCommand &command) {
  if (!command.task.empty() || command.labels || command.tokenTypes)
    return invalidInput(
        "{}: --task, --labels and --token-types put a head on a model's folder, and a GGUF file "
        "holds weights with their head; import the Hugging Face folder",
        command.model);
  TRAINC_ASSIGN_OR_RETURN(const WeightSource source, openWeightSource(command.model));
  const GgufFile *file = source.weights.gguf();
  if (!file)
    return invalidInput("{}: expected a GGUF file, found other weights", command.model);
  TRAINC_RETURN_IF_ERROR(requireWholeConfig(*file));
  TRAINC_ASSIGN_OR_RETURN(const std::optional<std::string> config, configJsonOf(*file));
  TRAINC_ASSIGN_OR_RETURN(const importer::ImportOptions options, optionsOf(command));
  TRAINC_ASSIGN_OR_RETURN(const importer::ImportedModel model,
                          importer::importModel(command.model, *config, options));
  TRAINC_RETURN_IF_ERROR(checkParameters(source, model));
  if (command.dryRun)
    return printOutput(model.uses.describe());
  const std::filesystem::path folder = command.output.empty() ? std::filesystem::path(command.model).stem()
                                                              : std::filesystem::path(command.output);
  TRAINC_ASSIGN_OR_RETURN(NewFolder made, NewFolder::create("-o", folder));
  TRAINC_RETURN_IF_ERROR(writeFolder(source, *file, *config, model, made.path()));
  TRAINC_RETURN_IF_ERROR(made.publish());
  if (!command.quiet)
    putMessage(stderr, model.uses.describe());
  sayWritten(command.quiet, folder.string(), describeModel(model, folder / "model.mlir"));
  return {};
}

} // namespace

int runImport(const ImportCommand &command) {
  return finish(command.model.ends_with(".gguf") ? importGguf(command) : importConfig(command));
}

} // namespace trainc
