#include "runtime/state/export_adapter.h"

#include "base/input_file.h"
#include "base/json_text.h"
#include "base/new_folder.h"
#include "runtime/formats/adapter_names.h"
#include "runtime/formats/hugging_face_names.h"
#include "runtime/state/durable_file.h"
#include "runtime/state/float_rounding.h"
#include "runtime/state/model_config.h"

#include <algorithm>
#include <optional>

namespace trainc {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// The folder of a model that is named by its folder or by a file in it.
fs::path modelFolder(const fs::path &like) {
  std::error_code error;
  if (!fs::is_regular_file(like, error))
    return like;
  return like.has_parent_path() ? like.parent_path() : ".";
}

/// The config.json of the base model; null if it has none.
Result<Json> readBaseConfig(const fs::path &like) {
  std::error_code error;
  const fs::path path = modelFolder(like) / kConfigFile;
  if (!fs::exists(path, error))
    return Json();
  TRAINC_ASSIGN_OR_RETURN(const std::string text, readWholeFile(path));
  return parseJson(path.string(), text);
}

/// The path of a parameter's module within the base model's class. Files of GPT-2 lack the prefix that the
/// modules of its classes with a head have.
std::string pathInClass(const std::string &name, const Json &config) {
  constexpr std::string_view kPrefix = "transformer.";
  const bool isGpt2 = config.is_object() && config.value("model_type", Json()) == "gpt2";
  const bool isOfHead = isHeadName(name) || name.starts_with("score.");
  const bool hasHead = firstClassOf(config) != "GPT2Model";
  return isGpt2 && hasHead && !isOfHead && !name.starts_with(kPrefix) ? std::string(kPrefix) + name : name;
}

/// Whether the layer of a parameter was trained without an adapter.
bool isSaved(const AdapterConfig &config, const std::string &name) {
  const std::string layer = name.substr(0, name.rfind('.'));
  return std::ranges::find(config.saved, layer) != config.saved.end();
}

/// The tensor of `like` for a parameter; null if there is none.
const WeightTensor *findLike(const WeightFiles &like, const std::string &name) {
  if (const WeightTensor *found = like.find(name))
    return found;
  for (const std::string &other : otherNames(name))
    if (const WeightTensor *found = like.find(other))
      return found;
  return nullptr;
}

/// Fails unless the weight to which an adapter belongs is in `like`.
Status checkBase(const WeightSource &source, const WeightFiles &like, const WeightTensor &a) {
  const std::string name = a.name.substr(0, a.name.size() - kAdapterA.size()) + ".weight";
  const WeightTensor *own = source.weights.find(name), *other = findLike(like, name);
  if (own && other && own->shape == other->shape)
    return {};
  return invalidInput("--like={}: expected the base model of the adapter, with '{}' {}, found {}",
                      like.path(), name, own ? describe(*own) : "",
                      other ? describe(*other) : "no such tensor");
}

/// The numbers of a piece of `tensor`, rounded to `type`; nothing if they cannot be.
std::optional<std::vector<std::byte>> roundedPiece(const WeightTensor &tensor, SafetensorsDType type,
                                                   uint64_t first, uint64_t count) {
  std::vector<std::byte> staging, rounded(count * elementBytes(type));
  const size_t size = elementBytes(tensor.dtype);
  const std::span<const std::byte> bytes = tensor.read(first * size, count * size, staging);
  if (tensor.dtype == type)
    return std::vector(bytes.begin(), bytes.end());
  if (!isRoundable(tensor.dtype) || !isRoundingTarget(type) ||
      roundElements(tensor.dtype, bytes, type, rounded.data()))
    return std::nullopt;
  return rounded;
}

/// Whether the checkpoint's tensor has the base model's numbers, in its own type.
bool hasNumbersOf(const WeightTensor &own, const WeightTensor &base) {
  constexpr uint64_t kPieceElements = 1 << 20;
  if (own.shape != base.shape)
    return false;
  for (uint64_t first = 0; first < own.elements(); first += kPieceElements) {
    const uint64_t count = std::min(kPieceElements, own.elements() - first);
    const auto expected = roundedPiece(base, own.dtype, first, count);
    if (!expected || roundedPiece(own, own.dtype, first, count) != expected)
      return false;
  }
  return true;
}

/// Fails unless a parameter that is no part of the adapter is that of the base model.
Status checkFrozen(const WeightTensor &own, const WeightFiles &like) {
  const WeightTensor *base = findLike(like, own.name);
  if (base && hasNumbersOf(own, *base))
    return {};
  return invalidInput("--like={}: expected parameter '{}' of the checkpoint, which the adapter leaves out, "
                      "with the same numbers, found {}; a group trained it, it was drawn anew, or the run "
                      "began with another model; export the whole model with --merge",
                      like.path(), own.name, base ? "others" : "no such tensor");
}

/// Fails if an adapter for PEFT cannot say what the checkpoint computes.
Status checkClass(const WeightSource &source, const AdapterConfig &config, const Json &base,
                  const fs::path &like) {
  if (base.is_object() && base.contains("text_config"))
    return invalidInput("--like={}: expected a model of text alone, found {}, which has the decoder inside; "
                        "the adapter's names would not fit; export the whole model with --merge",
                        like.string(), firstClassOf(base).empty() ? "a \"text_config\"" : firstClassOf(base));
  std::vector<std::string> names;
  for (const WeightTensor &tensor : source.weights.tensors())
    names.push_back(tensor.name);
  if (config.savesEmbedding() && hasTiedHead(base, names))
    return invalidInput("--like={}: the head of {} is the embedding, which was trained (modules_to_save); "
                        "with an adapter, PEFT would replace the embedding and keep the head; export the "
                        "whole model with --merge",
                        like.string(), firstClassOf(base));
  return {};
}

/// The configuration with the base model's name and task.
std::string configText(const AdapterConfig &config, const Json &base, const fs::path &like) {
  Json json = config.json;
  json["base_model_name_or_path"] = modelFolder(like).string();
  const std::string name = firstClassOf(base);
  if (name.ends_with("ForCausalLM") || name.ends_with("LMHeadModel"))
    json["task_type"] = "CAUSAL_LM";
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

Status exportAdapter(const WeightSource &source, const AdapterConfig &config, const fs::path &like,
                     const fs::path &output, WeightWriterOptions options) {
  TRAINC_ASSIGN_OR_RETURN(NewFolder folder, NewFolder::create("-o", output));
  TRAINC_ASSIGN_OR_RETURN(const WeightFiles base, WeightFiles::open(like));
  if (base.gguf())
    return invalidInput("--like={}: expected the base model's folder, as PEFT loads no GGUF file; name that "
                        "folder, or export the whole model with --merge",
                        like.string());
  TRAINC_ASSIGN_OR_RETURN(const Json baseConfig, readBaseConfig(like));
  TRAINC_RETURN_IF_ERROR(checkClass(source, config, baseConfig, like));
  std::vector<WeightOutput> outputs;
  uint64_t total = 0;
  for (const WeightTensor &tensor : source.weights.tensors()) {
    if (tensor.name.ends_with(kAdapterA))
      TRAINC_RETURN_IF_ERROR(checkBase(source, base, tensor));
    if (!isAdapterName(tensor.name) && !isSaved(config, tensor.name))
      continue;
    outputs.push_back(
        {&tensor, std::string(kAdapterPrefix) + pathInClass(tensor.name, baseConfig), tensor.dtype});
    total += tensor.bytes();
  }
  for (const WeightTensor &tensor : source.weights.tensors())
    if (!isAdapterName(tensor.name) && !isSaved(config, tensor.name))
      TRAINC_RETURN_IF_ERROR(checkFrozen(tensor, base));
  TRAINC_RETURN_IF_ERROR(base.check());
  WeightWriter writer(source, std::move(options), total);
  TRAINC_RETURN_IF_ERROR(writer.writeFile(folder.path() / kAdapterFile, outputs));
  const std::string text = configText(config, baseConfig, like);
  TRAINC_RETURN_IF_ERROR(
      writeDurableFile(folder.path() / kAdapterConfigFile, std::as_bytes(std::span(text))));
  writer.warnOfNonFinite();
  return folder.publish();
}

} // namespace trainc
