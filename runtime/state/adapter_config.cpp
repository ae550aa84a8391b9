#include "runtime/state/adapter_config.h"

#include "base/input_file.h"
#include "base/json_text.h"
#include "base/plain_text.h"
#include "runtime/formats/adapter_names.h"
#include "runtime/formats/hugging_face_names.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace trainc {

namespace fs = std::filesystem;
using Json = nlohmann::json;

bool AdapterConfig::savesEmbedding() const {
  return std::ranges::any_of(saved,
                             [](const std::string &layer) { return isEmbeddingName(layer + ".weight"); });
}

std::string firstClassOf(const Json &config) {
  const Json classes = config.is_object() ? config.value("architectures", Json()) : Json();
  return classes.is_array() && !classes.empty() && classes[0].is_string() ? classes[0].get<std::string>()
                                                                          : "";
}

bool hasTiedHead(const Json &config, const std::vector<std::string> &parameters) {
  const std::string name = firstClassOf(config);
  const bool hasHead =
      name.ends_with("ForCausalLM") || name.ends_with("LMHeadModel") || name.ends_with("ForMaskedLM");
  return hasHead && std::ranges::none_of(parameters, [](const std::string &parameter) {
           return isHeadName(parameter) && parameter.ends_with(".weight");
         });
}

/// Whether a key has a value that asks for something.
static bool isGiven(const Json &config, const char *key) {
  const auto found = config.find(key);
  return found != config.end() && !found->is_null() && *found != false && !found->empty();
}

/// A key with which PEFT changes the base model's weights when it begins; the adapter then belongs to other
/// weights than those of its base model.
static std::string initialKey(const Json &config) {
  const auto found = config.find("init_lora_weights");
  if (found == config.end() || !found->is_string())
    return {};
  std::string name = found->get<std::string>();
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char *method : {"pissa", "corda", "olora", "loftq", "lora_ga", "mica"})
    if (name.starts_with(method))
      return fmt::format("\"init_lora_weights\": {}", printable(found->dump()));
  return {};
}

/// A key with which PEFT computes something else than a plan.
static std::string foreignKey(const Json &config) {
  for (const char *key :
       {"use_dora", "use_qalora", "use_bdlora", "lora_bias", "rank_pattern", "alpha_pattern",
        "layer_replication", "trainable_token_indices", "alora_invocation_tokens", "arrow_config",
        "monteclora_config", "target_parameters", "kasa_config", "velora_config"})
    if (isGiven(config, key))
      return fmt::format("\"{}\": {}", key, printable(config[key].dump()));
  const auto bias = config.find("bias");
  if (bias != config.end() && *bias != "none")
    return fmt::format("\"bias\": {}", printable(bias->dump()));
  return {};
}

static bool truthOf(const Json &config, const char *key) {
  const auto found = config.find(key);
  return found != config.end() && *found == true;
}

Result<AdapterConfig> parseAdapterConfig(const fs::path &path, std::string_view text) {
  TRAINC_ASSIGN_OR_RETURN(Json json, parseJson(path.string(), text));
  if (!json.is_object())
    return invalidInput("{}: expected an object, found {}", path.string(), json.type_name());
  const auto type = json.find("peft_type");
  if (type == json.end() || *type != "LORA")
    return invalidInput(
        "{}: expected \"peft_type\": \"LORA\", found {}; other kinds of adapters are not known",
        path.string(), type == json.end() ? "nothing" : printable(type->dump()));
  if (const std::string foreign = foreignKey(json); !foreign.empty())
    return invalidInput("{}: {} computes something else than the adapters of trainc, which have one rank and "
                        "one scale; merge the adapter in PEFT (merge_and_unload), and begin with that model",
                        path.string(), foreign);
  if (const std::string initial = initialKey(json); !initial.empty())
    return invalidInput("{}: {} changes the base model's weights, so the adapter does not fit those in its "
                        "folder; merge the adapter in PEFT (merge_and_unload), or save it there with "
                        "path_initial_model_for_weight_conversion",
                        path.string(), initial);
  const auto rank = json.find("r"), alpha = json.find("lora_alpha");
  if (rank == json.end() || !rank->is_number_unsigned() || *rank == 0 || alpha == json.end() ||
      !alpha->is_number())
    return invalidInput("{}: expected a whole number \"r\" above 0 and a number \"lora_alpha\"",
                        path.string());
  AdapterConfig config;
  config.rank = rank->get<uint64_t>();
  config.alpha = alpha->get<double>();
  config.rootOfRank = truthOf(json, "use_rslora");
  config.isInOut = truthOf(json, "fan_in_fan_out");
  if (const auto saved = json.find("modules_to_save"); saved != json.end() && saved->is_array())
    for (const Json &layer : *saved)
      if (layer.is_string())
        config.saved.push_back(layer.get<std::string>());
  config.json = std::move(json);
  return config;
}

Result<std::optional<AdapterConfig>> readAdapterConfig(const fs::path &folder) {
  const fs::path path = folder / kAdapterConfigFile;
  std::error_code error;
  if (!fs::exists(path, error))
    return std::optional<AdapterConfig>();
  TRAINC_ASSIGN_OR_RETURN(const std::string text, readWholeFile(path));
  TRAINC_ASSIGN_OR_RETURN(AdapterConfig config, parseAdapterConfig(path, text));
  return std::optional(std::move(config));
}

Status checkTiedEmbedding(std::string_view own, const std::vector<std::string> &parameters,
                          const fs::path &folder) {
  std::error_code error;
  if (own.empty() || !fs::exists(folder / kAdapterFile, error))
    return {};
  TRAINC_ASSIGN_OR_RETURN(const std::optional<AdapterConfig> config, readAdapterConfig(folder));
  if (!config || !config->savesEmbedding() || truthOf(config->json, "ensure_weight_tying"))
    return {};
  TRAINC_ASSIGN_OR_RETURN(const Json model, parseJson("the plan's config.json", std::string(own)));
  if (!hasTiedHead(model, parameters))
    return {};
  return invalidInput("{}: the adapter replaces the embedding (modules_to_save) and keeps the head, but the "
                      "plan's head is the embedding; merge the adapter in PEFT (merge_and_unload), or train "
                      "it there with ensure_weight_tying",
                      (folder / kAdapterConfigFile).string());
}

/// The options of `trainc compile` that make such adapters.
static std::string optionsOf(const AdapterConfig &config) {
  return fmt::format("--lora-rank={} --lora-alpha={}{}", config.rank, config.alpha,
                     config.rootOfRank ? " --lora-rslora=true" : "");
}

Status compareAdapterConfigs(std::string_view own, const fs::path &folder) {
  TRAINC_ASSIGN_OR_RETURN(const std::optional<AdapterConfig> other, readAdapterConfig(folder));
  if (!other || own.empty())
    return {};
  TRAINC_ASSIGN_OR_RETURN(const AdapterConfig mine, parseAdapterConfig("the plan", own));
  if (mine.rank == other->rank && mine.scale() == other->scale())
    return {};
  return invalidInput("{}: expected an adapter of rank {} and scale {}, as in the plan, found rank {} and "
                      "scale {}; compile with {}",
                      (folder / kAdapterConfigFile).string(), mine.rank, mine.scale(), other->rank,
                      other->scale(), optionsOf(*other));
}

} // namespace trainc
