#include "runtime/state/model_config.h"

#include "base/input_file.h"
#include "base/json_text.h"
#include "base/name_pattern.h"
#include "base/plain_text.h"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
#include <set>
#include <vector>

namespace trainc {

namespace {

using Json = nlohmann::json;

// --- Keys ---

/// Keys that do not change what a model computes from its weights, by patterns.
constexpr std::string_view kHarmless[] = {
    // Origin.
    "_*", "architectures", "auto_map", "transformers_version", "unsloth_*", "model_name", "name_or_path",
    "tokenizer_class", "finetuning_task", "task_specific_params", "prefix", "custom_pipelines",
    // Types of numbers, and how a library computes.
    "dtype", "torch_dtype", "torchscript", "use_bfloat16", "use_cache", "pretraining_tp",
    "gradient_checkpointing", "chunk_size_feed_forward", "attn_implementation", "reorder_and_upcast_attn",
    "tf_legacy_loss", "cache_implementation",
    // Training.
    "*dropout*", "*pdrop", "*drop_rate", "*drop_path*", "layerdrop", "initializer_*", "router_aux_loss_coef",
    // Output of a library.
    "return_dict", "output_*", "id2label", "label2id", "num_labels", "problem_type", "summary_*",
    // Generation.
    "*_token_id", "*_token_ids", "max_length", "min_length", "do_sample", "early_stopping", "num_beams",
    "num_beam_groups", "diversity_penalty", "temperature", "top_k", "top_p", "typical_p", "*_penalty",
    "*no_repeat_ngram_size", "bad_words_ids", "num_return_sequences", "remove_invalid_values",
    "*suppress_tokens",
    // The longest text. A model may be trained further on shorter ones.
    "max_position_embeddings", "n_positions", "n_ctx", "seq_length", "max_sequence_length",
    // Facts that names and shapes of tensors tell.
    "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "n_embd", "n_layer", "n_inner"};

bool isHarmless(std::string_view key) {
  return std::ranges::any_of(kHarmless,
                             [&](std::string_view pattern) { return matchesPattern(pattern, key); });
}

/// The type of a model; empty if the config names none.
std::string typeOf(const Json &config) {
  const auto type = config.find("model_type");
  return type != config.end() && type->is_string() ? type->get<std::string>() : "";
}

/// Values that Hugging Face takes for keys that the config of a model of `type` lacks; null switches
/// something off.
Json defaultsOf(const Json &config, const std::string &type) {
  Json defaults = {{"rope_theta", 10000.0},
                   {"rope_scaling", nullptr},
                   {"partial_rotary_factor", 1.0},
                   {"sliding_window", nullptr},
                   {"layer_types", nullptr},
                   {"attention_bias", false},
                   {"mlp_bias", false},
                   {"attn_logit_softcapping", nullptr},
                   {"final_logit_softcapping", nullptr},
                   {"scale_attn_weights", true},
                   {"scale_attn_by_inverse_layer_idx", false},
                   {"is_encoder_decoder", false},
                   {"add_cross_attention", false}};
  if (type == "gpt2")
    defaults.update({{"n_head", 12},
                     {"layer_norm_epsilon", 1e-5},
                     {"activation_function", "gelu_new"},
                     {"tie_word_embeddings", true}});
  if (type == "llama" || type == "mistral" || type == "qwen2")
    defaults.update({{"num_attention_heads", 32},
                     {"rms_norm_eps", 1e-6},
                     {"hidden_act", "silu"},
                     {"tie_word_embeddings", false}});
  if (type == "mistral" && !config.contains("sliding_window"))
    defaults["sliding_window"] = 4096;
  return defaults;
}

// --- Values ---

/// The keys of the language model, which a config of a model for pictures and texts has in an object of its
/// own.
Json withTextConfig(const Json &config) {
  Json result = config;
  if (const auto text = config.find("text_config"); text != config.end() && text->is_object()) {
    result.update(*text);
    result.erase("text_config");
  }
  return result;
}

/// Gives a config the keys of one form: rotary embeddings as before transformers 5, the numbers of heads, and
/// no key whose value says that nothing is special.
Json normalized(const Json &config) {
  Json result = Json::object();
  for (const auto &[key, value] : config.items())
    if (!value.is_null())
      result[key] = value;
  const auto valueOf = [&](const char *key) { return result.value(key, Json()); };
  if (Json rope = valueOf("rope_parameters"); rope.is_object()) {
    result.erase("rope_parameters");
    for (const char *key : {"rope_theta", "partial_rotary_factor"})
      if (rope.contains(key)) {
        result[key] = rope[key];
        rope.erase(key);
      }
    result["rope_scaling"] = std::move(rope);
  }
  if (Json scaling = valueOf("rope_scaling"); scaling.is_object()) {
    if (const auto type = scaling.find("type"); type != scaling.end()) { // the older name
      scaling["rope_type"] = *type;
      scaling.erase("type");
    }
    result["rope_scaling"] = scaling;
    if (scaling.empty() || scaling.value("rope_type", Json()) == "default")
      result.erase("rope_scaling");
  }
  if (valueOf("use_sliding_window") == false)
    result.erase("sliding_window");
  result.erase("use_sliding_window");
  result.erase("max_window_layers");
  if (const Json layers = valueOf("layer_types");
      std::ranges::all_of(layers, [](const Json &layer) { return layer == "full_attention"; }))
    result.erase("layer_types");
  if (const Json heads = valueOf("num_attention_heads"); heads.is_number_unsigned() && heads != 0) {
    if (!result.contains("num_key_value_heads") && valueOf("model_type") != "mistral")
      result["num_key_value_heads"] = heads;
    if (const Json width = valueOf("hidden_size"); !result.contains("head_dim") && width.is_number_unsigned())
      result["head_dim"] = width.get<uint64_t>() / heads.get<uint64_t>();
  }
  return result;
}

/// Names of one function.
std::string_view activation(std::string_view name) {
  if (name == "gelu_new" || name == "gelu_fast")
    return "gelu_pytorch_tanh";
  return name == "swish" ? "silu" : name == "gelu_python" ? "gelu" : name;
}

/// Numbers may have been rounded to f32 by the program that wrote them.
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

/// A config and what stands in for the keys that it lacks.
class Config {
public:
  /// `config` is of a model of `type` unless it names another.
  Config(const Json &config, const std::string &type)
      : keys_(normalized(config)),
        defaults_(defaultsOf(config, typeOf(config).empty() ? type : typeOf(config))) {}

  void addKeysTo(std::set<std::string> &keys) const {
    for (const Json *json : {&keys_, &defaults_})
      for (const auto &[key, value] : json->items())
        keys.insert(key);
  }

  /// Returns the value of a key, or that which stands in for it; null if neither is known.
  const Json *find(const std::string &key) const {
    for (const Json *json : {&keys_, &defaults_})
      if (const auto found = json->find(key); found != json->end())
        return &*found;
    return nullptr;
  }

  bool contains(const std::string &key) const { return keys_.contains(key); }

  /// Returns the value of a key as a message shows it.
  std::string show(const std::string &key) const {
    constexpr size_t kShown = 80;
    std::string text = find(key)->dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
    if (text.size() > kShown)
      text = text.substr(0, kShown) + "...";
    return keys_.contains(key) ? text : text + " (by default)";
  }

private:
  Json keys_, defaults_;
};

} // namespace

Result<std::string> compareConfigs(std::string_view own, const std::filesystem::path &folder) {
  const std::filesystem::path path = folder / kConfigFile;
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return std::string();
  const Json ownJson = tryParseJson(own);
  if (!ownJson.is_object())
    return fmt::format(
        "{} is not compared, because the plan has no {} of its own: see that the model computes as "
        "the one of the weights does",
        path.string(), kConfigFile);
  TRAINC_ASSIGN_OR_RETURN(const std::string text, readWholeFile(path));
  TRAINC_ASSIGN_OR_RETURN(const Json otherJson, parseJson(path.string(), text));
  if (!otherJson.is_object())
    return invalidInput("{}: expected an object, found {}", path.string(), otherJson.type_name());
  const Json planKeys = withTextConfig(ownJson), fileKeys = withTextConfig(otherJson);
  const Config plan(planKeys, typeOf(fileKeys)), file(fileKeys, typeOf(planKeys));
  std::set<std::string> keys;
  plan.addKeysTo(keys);
  file.addKeysTo(keys);
  std::string differences;
  std::vector<std::string> unknown;
  for (const std::string &key : keys) {
    const Json *planned = plan.find(key), *found = file.find(key);
    if (!isHarmless(key) && planned && found && !isSame(*planned, *found))
      differences += fmt::format("\n    {}: {} in this file, {} in the plan", printable(key), file.show(key),
                                 plan.show(key));
    if (!isHarmless(key) && plan.contains(key) && !found)
      unknown.push_back(printable(key));
  }
  if (differences.empty() && unknown.empty())
    return std::string();
  if (differences.empty())
    return fmt::format("{} lacks keys of the plan's own {}, which are not compared: {}", path.string(),
                       kConfigFile, fmt::join(unknown, ", "));
  return invalidInput(
      "{}: the weights beside it are of a model that computes otherwise than the plan, whose own {} "
      "differs:{}\n  Change the model's text to match, or add --no-config-check to take the weights "
      "all the same",
      path.string(), kConfigFile, differences);
}

} // namespace trainc
