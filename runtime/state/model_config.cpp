#include "runtime/state/model_config.h"

#include "base/config_defaults.h"
#include "base/config_forms.h"
#include "base/config_keys.h"
#include "base/input_file.h"
#include "base/json_text.h"
#include "base/name_pattern.h"
#include "base/plain_text.h"
#include "base/text_config.h"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
#include <set>
#include <vector>

namespace trainc {

namespace {

using Json = nlohmann::json;

// --- Keys ---

/// Patterns of further keys that do not change what a model computes from its weights.
constexpr std::string_view kHarmless[] = {
    // Training.
    "*dropout*", "*pdrop", "*drop_rate", "*drop_path*", "layerdrop", "initializer_*", "init_std",
    "router_aux_loss_coef",
    // The longest text. A model may be trained further on shorter ones.
    "max_position_embeddings", "n_positions", "n_ctx", "seq_length", "max_sequence_length",
    // Sizes, which the names and shapes of tensors show.
    "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "n_embd", "n_layer", "n_inner"};

bool isHarmless(std::string_view key) {
  const auto matches = [&](std::string_view pattern) { return matchesPattern(pattern, key); };
  return std::ranges::any_of(kKeysWithoutMath, matches) || std::ranges::any_of(kHarmless, matches);
}

/// The type of a model; empty if the config names none.
std::string typeOf(const Json &config) {
  const auto type = config.find("model_type");
  return type != config.end() && type->is_string() ? type->get<std::string>() : "";
}

/// Hugging Face's defaults for keys that change what a model computes. They apply to a model type whose class
/// has no default of its own (base/config_defaults.h). Most switch something off, or have no effect.
Json neutralValues() {
  return {{"rope_theta", 10000.0},
          {"rope_scaling", nullptr},
          {"rope_parameters", nullptr},
          {"partial_rotary_factor", 1.0},
          {"rope_interleaved", false},
          {"rope_local_base_freq", nullptr},
          {"no_rope_layers", nullptr},
          {"sliding_window", nullptr},
          {"sliding_window_pattern", nullptr},
          {"attention_chunk_size", nullptr},
          {"layer_types", nullptr},
          {"attention_bias", false},
          {"mlp_bias", false},
          {"alibi", false},
          {"use_qk_norm", false},
          {"qk_layernorm", false},
          {"clip_qkv", nullptr},
          {"query_pre_attn_scalar", nullptr},
          {"attn_logit_softcapping", nullptr},
          {"final_logit_softcapping", nullptr},
          {"scale_attn_weights", true},
          {"scale_attn_by_inverse_layer_idx", false},
          {"attention_multiplier", nullptr},
          {"embedding_multiplier", 1.0},
          {"residual_multiplier", 1.0},
          {"logits_scaling", 1.0},
          {"logit_scale", 1.0},
          {"use_parallel_residual", false},
          {"parallel_attn", false},
          {"apply_residual_connection_post_layernorm", false},
          {"do_layer_norm_before", true},
          {"is_encoder_decoder", false},
          {"is_causal", true},
          {"use_causal_attention", true},
          {"use_bidirectional_attention", false},
          {"add_cross_attention", false},
          {"quantization_config", nullptr}};
}

// --- Values ---

/// The number under `key`; 0 if there is none.
uint64_t countOf(const Json &config, const char *key) {
  const Json value = config.value(key, Json());
  return value.is_number_unsigned() ? value.get<uint64_t>() : 0;
}

/// Adds the types of `count` layers to a config without them. `isFull(i)` says whether layer `i` has no
/// window.
template <typename IsFull> void listLayerTypes(Json &config, uint64_t count, IsFull isFull) {
  constexpr uint64_t kMaxLayers = 4096;
  if (config.contains("layer_types"))
    return;
  for (uint64_t layer = 0; layer < std::min(count, kMaxLayers); ++layer)
    config["layer_types"].push_back(isFull(layer) ? "full_attention" : "sliding_attention");
}

/// Rewrites a config of ModernBERT: a list of the layers' types replaces the period of global attention.
void normalizeModernBert(Json &config) {
  const uint64_t period = std::max<uint64_t>(1, countOf(config, "global_attn_every_n_layers"));
  listLayerTypes(config, countOf(config, "num_hidden_layers"),
                 [&](uint64_t layer) { return layer % period == 0; });
  config.erase("global_attn_every_n_layers");
}

/// Gives a config of Qwen a list of layers' types in place of the number of the first layer with a window.
void normalizeQwenWindows(Json &config) {
  const Json first = config.value("max_window_layers", Json()),
             count = config.value("num_hidden_layers", Json());
  if (config.value("use_sliding_window", Json()) == true && first.is_number_unsigned() &&
      count.is_number_unsigned())
    listLayerTypes(config, count.get<uint64_t>(),
                   [&](uint64_t layer) { return layer < first.get<uint64_t>(); });
}

/// Removes types of layers that are the class's usual ones: a window in all but each `period`th layer. Gives
/// a config of Gemma 3, whose class alone reads another period, a list of the types.
void normalizePeriod(Json &config, std::string_view type, uint64_t period) {
  const auto isFull = [&](uint64_t layer) { return (layer + 1) % period == 0; };
  if (const uint64_t given = countOf(config, "sliding_window_pattern");
      type == "gemma3_text" && given != 0 && given != period)
    listLayerTypes(config, countOf(config, "num_hidden_layers"),
                   [&](uint64_t layer) { return (layer + 1) % given == 0; });
  config.erase("sliding_window_pattern");
  const Json types = config.value("layer_types", Json());
  bool isUsual = types.is_array();
  for (size_t i = 0; isUsual && i < types.size(); ++i)
    isUsual = types[i] == (isFull(i) ? "full_attention" : "sliding_attention");
  if (isUsual)
    config.erase("layer_types");
}

/// Removes the types of layers if none has a window, and gives classes that have other usual types one form.
void normalizeLayerTypes(Json &config, std::string_view type) {
  constexpr std::pair<std::string_view, uint64_t> kPeriods[] = {
      {"gemma2", 2}, {"gemma3_text", 6}, {"olmo3", 4}};
  for (const auto &[periodic, period] : kPeriods)
    if (type == periodic)
      return normalizePeriod(config, type, period);
  if (const Json layers = config.value("layer_types", Json());
      std::ranges::all_of(layers, [](const Json &layer) { return layer == "full_attention"; }))
    config.erase("layer_types");
}

/// Gives a config of Falcon the number of key heads that its class takes, in place of the keys that choose
/// it. They also choose the norms of a layer, which the names of weights show. `given` is the config with
/// nulls.
void normalizeFalcon(Json &config, const Json &given, const Json &defaults) {
  const auto flag = [&](const char *key) {
    return (given.contains(key) ? given[key] : defaults.value(key, Json())) == true;
  };
  const Json heads = config.value("num_attention_heads", Json());
  if (!flag("new_decoder_architecture"))
    config["num_kv_heads"] = flag("multi_query") ? Json(1) : heads;
  else if (!config.contains("num_kv_heads"))
    config["num_kv_heads"] = heads;
  for (const char *key : {"new_decoder_architecture", "num_ln_in_parallel_attn", "multi_query"})
    config.erase(key);
  if (config["num_kv_heads"].is_null())
    config.erase("num_kv_heads");
}

/// Returns a config in one form, whichever form it was written in: rotary keys as before transformers 5, the
/// number of key heads and the head size, and no key that asks for the usual computation. `type` is the
/// model's, `defaults` are those of its class.
Json normalized(const Json &config, std::string_view type, const Json &defaults) {
  const Json oneForm = withRopeOfVersion4(config, type);
  Json result = Json::object();
  for (const auto &[key, value] : oneForm.items())
    if (!value.is_null())
      result[key] = value;
  if (type == "modernbert")
    normalizeModernBert(result);
  if (type == "falcon")
    normalizeFalcon(result, config, defaults);
  const auto valueOf = [&](const char *key) { return result.value(key, Json()); };
  if (valueOf("rope_local_base_freq") == valueOf("rope_theta"))
    result.erase("rope_local_base_freq"); // one base for all layers
  if (Json scaling = valueOf("rope_scaling"); scaling.is_object()) {
    if (const auto type = scaling.find("type"); type != scaling.end()) { // the older name
      scaling["rope_type"] = *type;
      scaling.erase("type");
    }
    result["rope_scaling"] = scaling;
    if (scaling.empty() || scaling.value("rope_type", Json()) == "default")
      result.erase("rope_scaling");
  }
  normalizeQwenWindows(result);
  if (valueOf("use_sliding_window") == false)
    result.erase("sliding_window");
  result.erase("use_sliding_window");
  result.erase("max_window_layers");
  normalizeLayerTypes(result, type);
  if (const Json heads = valueOf("num_attention_heads"); heads.is_number_unsigned() && heads != 0) {
    const auto isDerived = [&](const char *key) { // a null replaces the class's default
      return !result.contains(key) && (config.contains(key) || !defaults.contains(key));
    };
    if (isDerived("num_key_value_heads"))
      result["num_key_value_heads"] = heads;
    if (const Json width = valueOf("hidden_size"); isDerived("head_dim") && width.is_number_unsigned())
      result["head_dim"] = width.get<uint64_t>() / heads.get<uint64_t>();
  }
  if (const Json scalar = valueOf("query_pre_attn_scalar");
      !scalar.is_null() && scalar == valueOf("head_dim"))
    result.erase("query_pre_attn_scalar"); // the usual scale
  return result;
}

/// Returns the same name for all names of one activation function.
std::string_view activation(std::string_view name) {
  if (name == "gelu_new" || name == "gelu_fast")
    return "gelu_pytorch_tanh";
  return name == "swish" ? "silu" : name == "gelu_python" ? "gelu" : name;
}

/// Whether two values mean the same. Numbers may differ by a rounding to f32, because some programs write
/// them so.
bool isSame(const Json &a, const Json &b) {
  if (a.is_number() && b.is_number()) {
    const auto x = a.get<double>(), y = b.get<double>();
    return std::abs(x - y) <= 1e-6 * std::max(std::abs(x), std::abs(y));
  }
  if (a.is_string() && b.is_string())
    return activation(a.get_ref<const std::string &>()) == activation(b.get_ref<const std::string &>());
  if (!a.is_structured() || a.type() != b.type() || a.size() != b.size())
    return a == b;
  if (a.is_array())
    return std::ranges::equal(a, b, isSame);
  return std::ranges::all_of(a.items(), [&](const auto &item) {
    return b.contains(item.key()) && isSame(item.value(), b[item.key()]);
  });
}

// --- Comparison ---

/// A config, with defaults for the keys that it lacks.
class Config {
public:
  /// `type` is the model type if `config` names none.
  Config(const Json &config, const std::string &type) {
    const std::string own = typeOf(config).empty() ? type : typeOf(config);
    const Json defaults = classDefaults(own), named = withNamesOfClass(config, own);
    given_ = normalized(named, own, defaults);
    keys_ = normalized(withClassDefaults(named, own), own, defaults);
  }

  void addKeysTo(std::set<std::string> &keys) const {
    for (const Json *json : {&keys_, &neutral_})
      for (const auto &[key, value] : json->items())
        keys.insert(key);
  }

  /// Returns the value of a key, or its default; null if neither is known.
  const Json *find(const std::string &key) const {
    for (const Json *json : {&keys_, &neutral_})
      if (const auto found = json->find(key); found != json->end())
        return &*found;
    return nullptr;
  }

  bool contains(const std::string &key) const { return given_.contains(key); }

  /// Returns the value or default of a key, which must be known, as text for a message.
  std::string show(const std::string &key) const {
    constexpr size_t kShown = 80;
    std::string text = find(key)->dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
    if (text.size() > kShown)
      text = text.substr(0, kShown) + "...";
    return contains(key) ? text : text + " (by default)";
  }

private:
  Json given_; ///< keys of the config
  Json keys_;  ///< the same with the defaults of the class
  Json neutral_ = neutralValues();
};

/// Whether a model's computation depends on the token of padding: RoBERTa counts positions from its number,
/// and decoders with a classifier find the last token of a text by it.
bool readsPadding(const Json &config) {
  const std::string type = typeOf(config);
  if (type == "roberta" || type == "xlm-roberta")
    return true;
  const auto classes = config.find("architectures");
  if (type == "bert" || type == "modernbert" || classes == config.end() || !classes->is_array())
    return false;
  return std::ranges::any_of(*classes, [](const Json &name) {
    return name.is_string() && name.get_ref<const std::string &>().ends_with("ForSequenceClassification");
  });
}

/// Whether a value says that something is absent.
bool isNothing(const Json &value) {
  return value.empty() || value == false || value == 0 || value == ""; // empty: null, or without elements
}

/// The note for a plan without a config.json.
ConfigRemarks notCompared(const std::filesystem::path &path) {
  return {
      .note = fmt::format(
          "{} is not compared, because the plan has no {} of its own: check that the plan's model computes "
          "the same as the model of the weights",
          path.string(), kConfigFile)};
}

/// Compares the plan's config with that in the file `path`. If the latter is not complete, keys that it lacks
/// are not compared.
Result<ConfigRemarks> compare(const Json &ownJson, const std::filesystem::path &path, const Json &otherJson,
                              bool isComplete) {
  const Json planKeys = textConfigOf(ownJson), fileKeys = textConfigOf(otherJson);
  const Config plan(planKeys, typeOf(fileKeys)), file(fileKeys, typeOf(planKeys));
  std::set<std::string> keys;
  plan.addKeysTo(keys);
  file.addKeysTo(keys);
  std::string differences;
  std::vector<std::string> missing, unknown;
  for (const std::string &key : keys) {
    const Json *planned = plan.find(key), *found = file.find(key);
    const bool isRead = key == "pad_token_id" && readsPadding(planKeys);
    if ((isHarmless(key) && !isRead) || (!isComplete && !file.contains(key)))
      continue;
    if (planned && found && !isSame(*planned, *found))
      differences += fmt::format("\n    {}: {} in this file, {} in the plan", printable(key), file.show(key),
                                 plan.show(key));
    if (plan.contains(key) && !found)
      missing.push_back(printable(key));
    if (file.contains(key) && !planned && !isNothing(*found))
      unknown.push_back(fmt::format("{} {}", printable(key), file.show(key)));
  }
  ConfigRemarks remarks;
  if (!missing.empty())
    remarks.note = fmt::format("{} lacks keys of the plan's own {}, which are not compared: {}",
                               path.string(), kConfigFile, fmt::join(missing, ", "));
  if (!unknown.empty())
    remarks.warning = fmt::format(
        "{} has keys that the plan's own {} lacks, and that may change what the weights compute: {}",
        path.string(), kConfigFile, fmt::join(unknown, ", "));
  if (differences.empty())
    return remarks;
  return invalidInput(
      "{}: the weights are of a model that computes otherwise than the plan, whose own {} "
      "differs:{}\n  Change the model's text to match, or add --no-config-check to take the weights "
      "all the same",
      path.string(), kConfigFile, differences);
}

} // namespace

Result<ConfigRemarks> compareConfigs(std::string_view own, const std::filesystem::path &folder) {
  const std::filesystem::path path = folder / kConfigFile;
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return ConfigRemarks();
  const Json ownJson = tryParseJson(own);
  if (!ownJson.is_object())
    return notCompared(path);
  TRAINC_ASSIGN_OR_RETURN(const std::string text, readWholeFile(path));
  TRAINC_ASSIGN_OR_RETURN(const Json otherJson, parseJson(path.string(), text));
  if (!otherJson.is_object())
    return invalidInput("{}: expected an object, found {}", path.string(), otherJson.type_name());
  return compare(ownJson, path, otherJson, /*isComplete=*/true);
}

Result<ConfigRemarks> compareGgufConfig(std::string_view own, const std::filesystem::path &path,
                                        std::string_view metadata) {
  const Json ownJson = tryParseJson(own);
  if (!ownJson.is_object())
    return notCompared(path);
  Json otherJson = tryParseJson(metadata);
  otherJson.erase("model_type"); // Mistral's files say llama
  return compare(ownJson, path, otherJson, /*isComplete=*/false);
}

/// Keys whose values follow from a GGUF file's tensors (biases, a separate head) or from its architecture.
static constexpr std::string_view kSaidOtherwise[] = {
    "attention_bias", "mlp_bias", "use_bias", "use_qkv_bias", "bias", "tie_word_embeddings", "model_type"};

Status requireSaidByGguf(const std::filesystem::path &path, std::string_view config,
                         std::string_view metadata, bool hasRotaryFactors) {
  Json ownJson = tryParseJson(config), saidJson = tryParseJson(metadata);
  const std::string type = typeOf(ownJson);
  if (saidJson.contains("hidden_activation"))
    ownJson.erase("hidden_act"); // which Gemma's class does not read
  const Config own(ownJson, type), said(saidJson, type);
  std::set<std::string> keys;
  own.addKeysTo(keys);
  said.addKeysTo(keys);
  std::string differences;
  for (const std::string &key : keys) {
    const Json *wanted = own.find(key), *found = said.find(key);
    if (isHarmless(key) || !wanted || (hasRotaryFactors && key == "rope_scaling") ||
        std::ranges::find(kSaidOtherwise, key) != std::end(kSaidOtherwise))
      continue;
    if (!found && !isNothing(*wanted))
      differences += fmt::format("\n    {}: {}, which GGUF cannot represent", printable(key), own.show(key));
    if (found && !isSame(*wanted, *found))
      differences +=
          fmt::format("\n    {}: {}, and {} in GGUF", printable(key), own.show(key), said.show(key));
  }
  if (differences.empty())
    return {};
  return invalidInput(
      "{}: a GGUF file of this model would compute otherwise, as these keys show:{}\n  Convert "
      "the folder that trainc export writes with llama.cpp's convert_hf_to_gguf.py",
      path.string(), differences);
}

} // namespace trainc
