#include "runtime/state/export_adapter.h"

#include "base/input_file.h"
#include "base/json_text.h"
#include "base/new_folder.h"
#include "runtime/formats/adapter_names.h"
#include "runtime/formats/hugging_face_names.h"
#include "runtime/state/durable_file.h"
#include "runtime/state/model_config.h"

#include <algorithm>

namespace trainc {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// The config.json of the base model; null if it has none.
Result<Json> readBaseConfig(const fs::path &like) {
  std::error_code error;
  const fs::path path = like / kConfigFile;
  if (!fs::exists(path, error))
    return Json();
  TRAINC_ASSIGN_OR_RETURN(const std::string text, readWholeFile(path));
  return parseJson(path.string(), text);
}

/// The first class of a config.json; empty if it names none.
std::string classOf(const Json &config) {
  const Json classes = config.is_object() ? config.value("architectures", Json()) : Json();
  return classes.is_array() && !classes.empty() && classes[0].is_string() ? classes[0].get<std::string>()
                                                                          : "";
}

/// The path of a parameter's module within the base model's class. Files of GPT-2 lack the prefix that the
/// modules of its classes with a head have.
std::string pathInClass(const std::string &name, const Json &config) {
  constexpr std::string_view kPrefix = "transformer.";
  const bool isGpt2 = config.is_object() && config.value("model_type", Json()) == "gpt2";
  const bool isOfHead = isHeadName(name) || name.starts_with("score.");
  const bool hasHead = classOf(config) != "GPT2Model";
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

/// The configuration with the base model's name and task.
std::string configText(const AdapterConfig &config, const Json &base, const fs::path &like) {
  Json json = config.json;
  json["base_model_name_or_path"] = like.string();
  const std::string name = classOf(base);
  if (name.ends_with("ForCausalLM") || name.ends_with("LMHeadModel"))
    json["task_type"] = "CAUSAL_LM";
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

Status exportAdapter(const WeightSource &source, const AdapterConfig &config, const fs::path &like,
                     const fs::path &output, WeightWriterOptions options) {
  TRAINC_ASSIGN_OR_RETURN(NewFolder folder, NewFolder::create("-o", output));
  TRAINC_ASSIGN_OR_RETURN(const WeightFiles base, WeightFiles::open(like));
  TRAINC_ASSIGN_OR_RETURN(const Json baseConfig, readBaseConfig(like));
  std::vector<WeightOutput> outputs;
  uint64_t total = 0;
  for (const WeightTensor &tensor : source.weights.tensors()) {
    if (!isAdapterName(tensor.name) && !isSaved(config, tensor.name))
      continue;
    if (tensor.name.ends_with(kAdapterA))
      TRAINC_RETURN_IF_ERROR(checkBase(source, base, tensor));
    outputs.push_back(
        {&tensor, std::string(kAdapterPrefix) + pathInClass(tensor.name, baseConfig), tensor.dtype});
    total += tensor.bytes();
  }
  WeightWriter writer(source, std::move(options), total);
  TRAINC_RETURN_IF_ERROR(writer.writeFile(folder.path() / kAdapterFile, outputs));
  const std::string text = configText(config, baseConfig, like);
  TRAINC_RETURN_IF_ERROR(
      writeDurableFile(folder.path() / kAdapterConfigFile, std::as_bytes(std::span(text))));
  writer.warnOfNonFinite();
  return folder.publish();
}

} // namespace trainc
