// Subcommands that are thin shells over runtime/: `trainc tokenize`, `consolidate` and `sign`.
#include "tools/trainc/Commands.h"

#include "base/output_file.h"
#include "base/print.h"
#include "plan/file/signature.h"
#include "runtime/data/file_patterns.h"
#include "runtime/data/formats/foreign_file.h"
#include "runtime/data/tokenize.h"
#include "runtime/data/tokenizer/gguf_tokenizer_writer.h"
#include "runtime/formats/safetensors_view.h"
#include "runtime/state/checkpoint_files.h"
#include "runtime/state/checkpoint_folder.h"
#include "runtime/state/consolidate.h"
#include "runtime/state/export_adapter.h"
#include "runtime/state/export_folder.h"
#include "runtime/state/export_gguf.h"
#include "runtime/state/merge_adapters.h"
#include "tools/trainc/LongWork.h"
#include "tools/trainc/Paths.h"
#include "tools/trainc/Summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <span>

namespace trainc {

void sayWritten(bool quiet, std::string_view path, std::string_view content) {
  if (!quiet)
    putMessage(stderr, fmt::format("wrote {}: {}\n", path, content));
}

/// Fails if the files of a tokenization hold something else than tokens and their sidecar, by which tokens
/// are known.
static Status requireTokens(const std::string &output) {
  const std::filesystem::path sidecar = sidecarPath(output);
  const Result<std::optional<TokenSidecar>> read = readTokenSidecar(output);
  const bool isSidecar = read.ok() && *read;
  if (!isSidecar && bytesToLose(sidecar) > 0)
    return otherContent(fmt::format("-o {}, which writes ", output), sidecar, "the sidecar of a token file");
  const uint64_t bytes = bytesToLose(output);
  if (bytes == 0 || (isSidecar && bytes == (*read)->tokens * elementBytes((*read)->dtype)))
    return {};
  return otherContent("-o ", output, fmt::format("the tokens that {} describes", sidecar.string()));
}

/// Checks the output and its sidecar against the texts and the tokenizer's files.
static Status checkPaths(const TokenizeCommand &command) {
  std::vector<NamedPath> inputs;
  TRAINC_ASSIGN_OR_RETURN(const std::vector<std::filesystem::path> texts, expandPatterns(command.texts));
  for (const std::filesystem::path &text : texts) {
    TRAINC_RETURN_IF_ERROR(requireRegularFile(text));
    inputs.push_back({fmt::format("the text '{}'", text.string()), text});
  }
  const std::filesystem::path tokenizer = command.tokenizer;
  for (const std::filesystem::path &file :
       {tokenizer, tokenizer / "tokenizer.json", tokenizer / "vocab.json", tokenizer / "merges.txt",
        tokenizer / "vocab.txt", tokenizer / "tokenizer_config.json"})
    if (command.tokenizer != "bytes")
      inputs.push_back({fmt::format("the tokenizer's '{}'", file.string()), file});
  const std::filesystem::path sidecar = sidecarPath(command.output);
  TRAINC_RETURN_IF_ERROR(checkOutputs(
      {{"-o " + command.output, command.output},
       {fmt::format("-o {}, which writes '{}' too,", command.output, sidecar.string()), sidecar}},
      inputs));
  return requireTokens(command.output);
}

int runTokenize(const TokenizeCommand &command) {
  if (Status status = checkPaths(command); !status.ok())
    return finish(status);
  TokenizeOptions options;
  options.tokenizer = command.tokenizer;
  options.texts = command.texts;
  options.output = command.output;
  options.endToken = command.endToken;
  options.anyText = command.anyText;
  TokenizedTexts made;
  const Status status = runLongWork("tokenized", [&](const auto &progress) -> Status {
    options.progress = progress;
    TRAINC_ASSIGN_OR_RETURN(made, tokenize(options));
    return {};
  });
  if (status.ok() && !command.quiet)
    putMessage(stderr, tokenizedText(options, made));
  return finish(status);
}

template <typename Tensor> static std::set<std::string> tensorNames(std::span<const Tensor> tensors) {
  std::set<std::string> names;
  for (const Tensor &tensor : tensors)
    names.insert(tensor.name);
  return names;
}

/// Fails if the file holds something else than weights of the same model, or is a part of a checkpoint. Names
/// of tensors tell weights from tables of data, which are safetensors files, too.
static Status requireWeights(const std::filesystem::path &output, const WeightFiles &weights) {
  if (bytesToLose(output) == 0)
    return {};
  const Result<SafetensorsView> old = SafetensorsView::open(output);
  if (!old.ok())
    return otherContent("-o ", output, "weights (safetensors)");
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(output, error);
  if (std::filesystem::exists(target.parent_path() / kTrainerStateFile, error))
    return invalidInput("-o {}: the file is a part of the checkpoint '{}', which would be lost; give another "
                        "name",
                        output.string(), target.parent_path().string());
  if (tensorNames(std::span(old->tensors())) != tensorNames(weights.tensors()))
    return otherContent("-o ", output, "weights of this model: its tensors have other names");
  return {};
}

static Status consolidate(const ConsolidateCommand &command) {
  const Result<WeightSource> opened = openWeightSource(command.checkpoint);
  if (!opened.ok())
    return explainUnreadWeights(command.checkpoint, opened.status());
  const WeightSource &source = *opened;
  const bool isLatestOfFolder = source.path != command.checkpoint;
  if (const std::string found = describeLookalikes(command.checkpoint); isLatestOfFolder && !found.empty())
    putMessage(stderr, fmt::format("warning: {}\n", found));
  std::vector<NamedPath> inputs;
  for (const std::filesystem::path &input : source.inputs)
    inputs.push_back({fmt::format("the input '{}'", input.string()), input});
  TRAINC_RETURN_IF_ERROR(checkOutputs({{"-o " + command.output, command.output}}, inputs));
  TRAINC_RETURN_IF_ERROR(requireWeights(command.output, source.weights));
  WeightWriterOptions options;
  options.warn = [](const std::string &text) { putMessage(stderr, fmt::format("warning: {}\n", text)); };
  TRAINC_RETURN_IF_ERROR(runLongWork("consolidated", [&](const auto &progress) {
    options.progress = progress;
    return consolidate(source, command.output, command.dtype, options);
  }));
  sayWritten(command.quiet, command.output, fmt::format("the weights of {}", source.path.string()));
  return {};
}

/// Opens the checkpoint to export, with adapters merged if that is asked for.
static Result<WeightSource> openExported(const ExportCommand &command) {
  Result<WeightSource> source = openWeightSource(command.checkpoint);
  if (!source.ok())
    return explainUnreadWeights(command.checkpoint, source.status());
  if (!command.merge)
    return source;
  if (!hasAdapters(*source))
    return invalidInput("--merge: expected a checkpoint of a run with adapters (--lora), found none in {}; "
                        "leave --merge out",
                        source->path.string());
  TRAINC_ASSIGN_OR_RETURN(const AdapterConfig config, adapterConfigOf(*source));
  return mergeAdapters(std::move(*source), config);
}

static Status exportAdapterFolder(const WeightSource &source, const ExportCommand &command) {
  TRAINC_ASSIGN_OR_RETURN(const AdapterConfig config, adapterConfigOf(source));
  TRAINC_RETURN_IF_ERROR(runLongWork("exported", [&](const auto &progress) {
    WeightWriterOptions options;
    options.warn = [](const std::string &text) { putMessage(stderr, fmt::format("warning: {}\n", text)); };
    options.progress = progress;
    return exportAdapter(source, config, command.like, command.output, options);
  }));
  sayWritten(command.quiet, command.output,
             fmt::format("the adapter of {} to {}, as PEFT has it", source.path.string(), command.like));
  return {};
}

static Status exportFolder(const ExportCommand &command) {
  const Result<WeightSource> source = openExported(command);
  if (!source.ok())
    return source.status();
  if (hasAdapters(*source))
    return exportAdapterFolder(*source, command);
  WeightWriterOptions options;
  options.warn = [](const std::string &text) { putMessage(stderr, fmt::format("warning: {}\n", text)); };
  TRAINC_RETURN_IF_ERROR(runLongWork("exported", [&](const auto &progress) {
    options.progress = progress;
    return exportLike(*source, command.like, command.output, options);
  }));
  sayWritten(command.quiet, command.output,
             fmt::format("the weights of {} as {} has them, and its other files", source->path.string(),
                         command.like));
  return {};
}

/// Fails if the file holds something else than a GGUF file of a model.
static Status requireGguf(const std::filesystem::path &output) {
  return bytesToLose(output) == 0 || isGguf(output) ? Status() : otherContent("-o ", output, "a GGUF file");
}

/// The metadata, the tokenizer and the chat template of a GGUF file.
static Result<GgufMetadata> metadataLike(const WeightSource &source, const WeightFiles &like,
                                         const ExportCommand &command, const GgufTensorType &type) {
  GgufMetadata metadata;
  TRAINC_RETURN_IF_ERROR(addModelMetadata(source, command.like, type, metadata));
  if (like.gguf()) // whose metadata have them
    return metadata;
  if (!hasTokenizer(command.like))
    return invalidInput(
        "--like={}: expected a tokenizer.json in this folder, without which llama.cpp loads no model; "
        "copy it there, or name a GGUF file of the base model with --like",
        command.like);
  TRAINC_ASSIGN_OR_RETURN(const uint64_t vocabulary, embeddingRows(like));
  TRAINC_RETURN_IF_ERROR(addTokenizer(command.like, vocabulary, metadata.header));
  return metadata;
}

static Status exportGgufFile(const ExportCommand &command) {
  const Result<WeightSource> source = openExported(command);
  if (!source.ok())
    return source.status();
  if (hasAdapters(*source))
    return invalidInput(
        "-o {}: a GGUF file of a model cannot hold the adapter of {} alone; give --merge, too",
        command.output, source->path.string());
  const Result<WeightFiles> like = WeightFiles::open(command.like);
  if (!like.ok())
    return explainUnreadWeights(command.like, like.status());
  std::vector<NamedPath> inputs;
  for (const std::filesystem::path &input : source->inputs)
    inputs.push_back({fmt::format("the input '{}'", input.string()), input});
  for (const std::string &input : like->filePaths())
    inputs.push_back({fmt::format("--like '{}'", input), input});
  TRAINC_RETURN_IF_ERROR(checkOutputs({{"-o " + command.output, command.output}}, inputs));
  TRAINC_RETURN_IF_ERROR(requireGguf(command.output));
  std::string typeName = command.type;
  std::ranges::transform(typeName, typeName.begin(), [](unsigned char c) { return std::toupper(c); });
  const GgufTensorType *given = findGgufType(typeName);
  const GgufTensorType &type = given ? *given : usualGgufType(*like);
  TRAINC_ASSIGN_OR_RETURN(const GgufMetadata metadata, metadataLike(*source, *like, command, type));
  WeightWriterOptions options;
  TRAINC_RETURN_IF_ERROR(runLongWork("exported", [&](const auto &progress) {
    options.progress = progress;
    return exportGguf(*source, command.like, command.output, metadata, type, options);
  }));
  sayWritten(command.quiet, command.output,
             fmt::format("the weights of {} as {}, with the metadata of {}", source->path.string(), type.name,
                         command.like));
  return {};
}

int runExport(const ExportCommand &command) {
  if (command.output.ends_with(".gguf"))
    return finish(exportGgufFile(command));
  if (!command.type.empty())
    return finish(
        invalidInput("--type needs a GGUF file as output (-o FILE.gguf); a folder has the types of --like"));
  return finish(exportFolder(command));
}

int runConsolidate(const ConsolidateCommand &command) { return finish(consolidate(command)); }

int runSign(const SignCommand &command) {
  const Status status = signPlan(command.plan, command.key);
  if (status.ok())
    sayWritten(command.quiet, signaturePath(command.plan).string(),
               fmt::format("the signature of {}", command.plan));
  return finish(status);
}

} // namespace trainc
