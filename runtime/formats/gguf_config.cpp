#include "runtime/formats/gguf_config.h"

#include "base/config_defaults.h"
#include "base/config_forms.h"
#include "base/json_text.h"
#include "base/plain_text.h"
#include "base/text_config.h"
#include "runtime/formats/gguf_blocks.h"
#include "runtime/formats/gguf_names.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <span>

namespace trainc {

namespace {

using Json = nlohmann::json;

/// A key of GGUF metadata, without the prefix of the architecture, and Hugging Face's key for it.
struct KeyPair {
  std::string_view gguf, huggingFace;
};

constexpr KeyPair kLlamaKeys[] = {
    {"vocab_size", "vocab_size"},
    {"context_length", "max_position_embeddings"},
    {"embedding_length", "hidden_size"},
    {"feed_forward_length", "intermediate_size"},
    {"block_count", "num_hidden_layers"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads"},
    {"attention.key_length", "head_dim"},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps"},
    {"attention.layer_norm_epsilon", "layer_norm_eps"},
    {"attention.sliding_window", "sliding_window"},
    {"rope.freq_base", "rope_theta"},
    {"attn_logit_softcapping", "attn_logit_softcapping"},
    {"final_logit_softcapping", "final_logit_softcapping"},
    {"use_parallel_residual", "use_parallel_residual"},
};

constexpr KeyPair kGraniteKeys[] = {
    {"attention.scale", "attention_multiplier"},
    {"embedding_scale", "embedding_multiplier"},
    {"residual_scale", "residual_multiplier"},
    {"logit_scale", "logits_scaling"},
};

constexpr KeyPair kStarcoder2Keys[] = {{"attention.layer_norm_epsilon", "norm_epsilon"}};

constexpr KeyPair kGpt2Keys[] = {
    {"vocab_size", "vocab_size"},
    {"context_length", "n_positions"},
    {"embedding_length", "n_embd"},
    {"feed_forward_length", "n_inner"},
    {"block_count", "n_layer"},
    {"attention.head_count", "n_head"},
    {"attention.layer_norm_epsilon", "layer_norm_epsilon"},
};

constexpr KeyPair kBloomKeys[] = {
    {"vocab_size", "vocab_size"},
    {"context_length", "seq_length"},
    {"embedding_length", "hidden_size"},
    {"feed_forward_length", "n_inner"},
    {"block_count", "n_layer"},
    {"attention.head_count", "n_head"},
    {"attention.layer_norm_epsilon", "layer_norm_epsilon"},
};

constexpr KeyPair kFalconKeys[] = {
    {"feed_forward_length", "ffn_hidden_size"},
    {"attention.head_count_kv", "num_kv_heads"},
    {"attention.layer_norm_epsilon", "layer_norm_epsilon"},
};

/// Keys of a family. A pair of `own` replaces the pair of `shared` with the same GGUF key.
struct FamilyKeys {
  std::string_view architecture, modelType;
  std::span<const KeyPair> own = {}, shared = kLlamaKeys;
};

constexpr FamilyKeys kFamilyKeys[] = {
    {"llama", "llama"},
    {"granite", "granite", kGraniteKeys},
    {"smollm3", "smollm3"},
    {"qwen2", "qwen2"},
    {"qwen3", "qwen3"},
    {"gemma", "gemma"},
    {"gemma2", "gemma2"},
    {"gemma3", "gemma3_text"},
    {"phi2", "phi"},
    {"falcon", "falcon", kFalconKeys},
    {"phi3", "phi3"},
    {"olmo2", "olmo2"},
    {"stablelm", "stablelm"},
    {"starcoder2", "starcoder2", kStarcoder2Keys},
    {"gptneox", "gpt_neox"},
    {"gpt2", "gpt2", kGpt2Keys, {}},
    {"bloom", "bloom", kBloomKeys, {}},
};

/// A value that llama.cpp's code for an architecture fixes, so that the metadata has no entry for it.
struct Implied {
  std::string_view architecture, key, value; ///< the value as JSON
};

constexpr Implied kImplied[] = {
    {"gpt2", "activation_function", R"("gelu_new")"},
    {"gptneox", "hidden_act", R"("gelu")"}, // llama.cpp computes its approximation with tanh
    {"phi2", "hidden_act", R"("gelu_new")"},
    {"falcon", "activation", R"("gelu")"}, // llama.cpp computes its approximation with tanh
    {"starcoder2", "hidden_act", R"("gelu_pytorch_tanh")"},
    {"stablelm", "hidden_act", R"("silu")"},
    {"smollm3", "hidden_act", R"("silu")"},
    {"smollm3", "no_rope_layer_interval", "4"},
    // In older files, Gemma's `hidden_act` is gelu, but means the approximation with tanh.
    {"gemma", "hidden_activation", R"("gelu_pytorch_tanh")"},
    {"gemma2", "hidden_activation", R"("gelu_pytorch_tanh")"},
    {"gemma3", "hidden_activation", R"("gelu_pytorch_tanh")"},
};

/// A number or Boolean as JSON; null for other values. An f32 becomes the shortest decimal number that rounds
/// to it: the number in the configuration from which the file was made.
Json jsonOf(const GgufValue &value) {
  if (const auto *number = std::get_if<float>(&value)) {
    const std::string digits = fmt::format("{}", *number);
    double shortest = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), shortest);
    return shortest;
  }
  return std::visit(
      [](const auto &each) -> Json {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(each)>>)
          return each;
        else
          return nullptr;
      },
      value);
}

/// The value under `ARCHITECTURE.key` as JSON; null if there is none.
Json valueOf(const GgufFile &file, std::string_view architecture, std::string_view key) {
  const GgufValue *value = file.find(fmt::format("{}.{}", architecture, key));
  if (const auto *text = value ? std::get_if<std::string_view>(value) : nullptr)
    return std::string(*text);
  return value ? jsonOf(*value) : Json();
}

/// Entries that addRotary() reads, without the prefix of the architecture.
constexpr std::string_view kRotaryEntries[] = {
    "rope.dimension_count",   "rope.scaling.type",
    "rope.scaling.factor",    "rope.scaling.original_context_length",
    "rope.scaling.finetuned", "rope.scaling.attn_factor"};
/// Entries whose values follow from others.
constexpr std::string_view kRepeatedEntries[] = {
    "vocab_size", "attention.value_length",
    // In GPT-2 and BLOOM, by the number of heads and the width.
    "attention.head_count_kv", "attention.key_length",
    // The order of rows, which all files of an architecture have.
    "tensor_data_layout"};
/// Entries that are texts.
constexpr std::string_view kTextEntries[] = {"rope.scaling.type", "tensor_data_layout"};

// --- Frequencies of rotary positions that a tensor scales ---

/// Size of a head in elements, by a config with Hugging Face's keys; 0 if unknown.
uint64_t headWidthOf(const Json &config) {
  const auto count = [&](const char *key) {
    const Json value = config.value(key, Json());
    return value.is_number_unsigned() ? value.get<uint64_t>() : 0;
  };
  if (const uint64_t given = count("head_dim"))
    return given;
  const uint64_t heads = count("num_attention_heads");
  return heads == 0 ? 0 : count("hidden_size") / heads;
}

/// Llama 3.1's rule: low frequencies are divided by `factor`, high ones stay, those between are interpolated.
struct Llama3Rule {
  double factor, low, high, original;

  /// Returns the numbers by which the rotary frequencies of a head of `width` elements are divided.
  std::vector<float> factors(uint64_t width, double base) const {
    std::vector<float> result;
    for (uint64_t i = 0; i < width / 2; ++i) {
      const double exponent = 2.0 * static_cast<double>(i) / static_cast<double>(width);
      const double turns = original / (2 * std::numbers::pi) * std::pow(base, -exponent);
      const double share = std::clamp((turns - low) / (high - low), 0.0, 1.0);
      result.push_back(static_cast<float>(1 / ((1 - share) / factor + share)));
    }
    return result;
  }
};

/// Returns the elements of a tensor of F32; nothing if the file lacks it.
std::vector<float> floatsOf(const GgufFile &file, std::string_view name) {
  const GgufTensor *tensor = file.findTensor(name);
  if (!tensor || tensor->type->name != "F32")
    return {};
  std::vector<float> floats(tensor->elements());
  decodeGgufElements(*tensor->type, tensor->bytes, 0, floats);
  return floats;
}

/// Finds the rule from which llama.cpp's converter computed `rope_freqs.weight`. Only its `factor` is known
/// from the file, as the largest element; the other numbers are those of all models of Llama 3.
std::optional<Llama3Rule> llama3RuleOf(const GgufFile &file, const Json &config) {
  const std::vector<float> stored = floatsOf(file, "rope_freqs.weight");
  const Json base = config.value("rope_theta", Json(10000.0));
  if (stored.empty() || !base.is_number())
    return std::nullopt;
  const Llama3Rule rule = {std::ranges::max(stored), 1, 4, 8192};
  constexpr float kRounding = 1e-5F;
  const bool isEqual =
      std::ranges::equal(stored, rule.factors(headWidthOf(config), base.get<double>()),
                         [](float a, float b) { return std::abs(a - b) <= kRounding * std::abs(b); });
  return isEqual ? std::optional(rule) : std::nullopt;
}

/// Returns the scaling of rotary frequencies by tensors of the file, with Hugging Face's keys: Llama 3.1's
/// rule, or Phi-3's factors for short and long texts. Null if the file has no such tensors, or ones of an
/// unknown rule. `original` is the length of the texts before the scaling, or null.
Json scalingOfTensors(const GgufFile &file, std::string_view architecture, const Json &config,
                      const Json &original) {
  if (const std::optional<Llama3Rule> rule = llama3RuleOf(file, config))
    return {{"rope_type", "llama3"},
            {"factor", rule->factor},
            {"low_freq_factor", rule->low},
            {"high_freq_factor", rule->high},
            {"original_max_position_embeddings", uint64_t(rule->original)}};
  const std::vector<float> shorter = floatsOf(file, "rope_factors_short.weight");
  const std::vector<float> longer = floatsOf(file, "rope_factors_long.weight");
  const Json attention = valueOf(file, architecture, "rope.scaling.attn_factor");
  if (architecture != "phi3" || shorter.empty() || longer.empty() || original.is_null() ||
      attention.is_null())
    return nullptr;
  Json scaling = {{"type", "longrope"}, {"attention_factor", attention}};
  for (const auto &[key, factors] : {std::pair("short_factor", &shorter), std::pair("long_factor", &longer)})
    for (const float factor : *factors)
      scaling[key].push_back(jsonOf(GgufValue(factor)));
  return scaling;
}

/// Adds the share of each head that is rotated, and the scaling of the frequencies. Returns whether tensors
/// of the file scale them by a known rule.
bool addRotary(const GgufFile &file, std::string_view architecture, Json &config) {
  const Json rotary = valueOf(file, architecture, "rope.dimension_count");
  const uint64_t head = headWidthOf(config);
  const bool isNeoX = architecture == "gptneox"; // its class has other names for these keys
  if (isNeoX && config.contains("rope_theta")) {
    config["rotary_emb_base"] = config["rope_theta"];
    config.erase("rope_theta");
  }
  // By default, the classes of these families rotate only a part of each head.
  const bool hasDefaultShare = isNeoX || architecture == "stablelm" || architecture == "phi2";
  const char *share = isNeoX ? "rotary_pct" : "partial_rotary_factor";
  if (rotary.is_number_unsigned() && head > 0 && rotary != head)
    config[share] = double(rotary.get<uint64_t>()) / double(head);
  else if (hasDefaultShare)
    config[share] = 1.0;
  const Json original = valueOf(file, architecture, "rope.scaling.original_context_length");
  if (const Json scaling = scalingOfTensors(file, architecture, config, original); !scaling.is_null()) {
    config["rope_scaling"] = scaling;
    if (architecture == "phi3")
      config["original_max_position_embeddings"] = original;
    return true;
  }
  Json type = valueOf(file, architecture, "rope.scaling.type");
  const Json factor = valueOf(file, architecture, "rope.scaling.factor");
  if (type.is_null() && factor.is_number() && factor.get<double>() != 0 && factor.get<double>() != 1)
    type = "linear"; // as llama.cpp reads it
  if (type.is_null() || type == "none")
    return false;
  Json scaling = {{"rope_type", type}};
  if (!factor.is_null())
    scaling["factor"] = factor;
  if (!original.is_null())
    scaling["original_max_position_embeddings"] = original;
  config["rope_scaling"] = scaling;
  return false;
}

/// Adds the number by whose square root Gemma's scores are divided. No entry has this number: like llama.cpp,
/// recognises the largest models, where it is another one, by their number of layers.
void addScoreScale(std::string_view architecture, Json &config) {
  const uint64_t largest = architecture == "gemma2" ? 46 : architecture == "gemma3" ? 62 : 0;
  if (largest == 0)
    return;
  const Json width = config.value("hidden_size", Json()), heads = config.value("num_attention_heads", Json());
  if (config.value("num_hidden_layers", Json()) == largest && width.is_number_unsigned() &&
      heads.is_number_unsigned() && heads > 0U)
    config["query_pre_attn_scalar"] = width.get<uint64_t>() / heads.get<uint64_t>();
  else if (config.contains("head_dim"))
    config["query_pre_attn_scalar"] = config["head_dim"];
}

/// Adds the number of key heads if it has no entry, and the keys of Falcon's newer architecture, which has
/// groups of heads, one norm in a layer (Falcon 11B) or two (40B).
void addFalconNorms(const GgufFile &file, Json &config) {
  if (!config.contains("num_kv_heads") && config.contains("num_attention_heads"))
    config["num_kv_heads"] = config["num_attention_heads"];
  const bool hasTwoNorms = file.findTensor("blk.0.attn_norm_2.weight");
  if (!hasTwoNorms && (!config.contains("num_kv_heads") || config["num_kv_heads"] == 1U))
    return;
  config["new_decoder_architecture"] = true;
  if (!hasTwoNorms)
    config["num_ln_in_parallel_attn"] = 1;
}

/// Adds the numbers that llama.cpp computes for heads without an entry, where the class has other defaults.
void addHeads(const FamilyKeys &family, Json &config) {
  const Json defaults = classDefaults(family.modelType);
  if (const Json heads = config.value("num_attention_heads", Json());
      !heads.is_null() && defaults.contains("num_key_value_heads") && !config.contains("num_key_value_heads"))
    config["num_key_value_heads"] = heads;
  if (const uint64_t width = headWidthOf(config); width > 0 && defaults.contains("head_dim"))
    config["head_dim"] = width;
}

/// The configuration in a file's metadata.
struct ReadConfig {
  const FamilyKeys *family = nullptr; ///< null: the architecture has no table of keys
  Json keys;                          ///< with Hugging Face's names
  bool knowsFactors = false;          ///< whether tensors scale rotary frequencies by a known rule
};

Result<ReadConfig> readConfig(const GgufFile &file) {
  TRAINC_ASSIGN_OR_RETURN(const std::string_view architecture, file.text("general.architecture"));
  const auto *family = std::ranges::find(kFamilyKeys, architecture, &FamilyKeys::architecture);
  if (family == std::end(kFamilyKeys))
    return ReadConfig();
  Json config = {{"model_type", family->modelType}};
  const auto addKeys = [&](std::span<const KeyPair> keys, std::span<const KeyPair> others) {
    for (const auto &[key, name] : keys) {
      const GgufValue *value = file.find(fmt::format("{}.{}", architecture, key));
      if (!value || std::ranges::find(others, key, &KeyPair::gguf) != others.end())
        continue;
      if (Json json = jsonOf(*value); !json.is_null())
        config[std::string(name)] = std::move(json);
    }
  };
  addKeys(family->own, {});
  addKeys(family->shared, family->own);
  addHeads(*family, config);
  if (const GgufArray *tokens = nullptr; !config.contains("vocab_size")) {
    TRAINC_ASSIGN_OR_RETURN(tokens, file.array("tokenizer.ggml.tokens", GgufValueType::kString));
    if (tokens)
      config["vocab_size"] = tokens->count;
  }
  if (config.value("sliding_window", Json()) == 0U) // none
    config.erase("sliding_window");
  if (architecture == "falcon")
    addFalconNorms(file, config);
  const bool knowsFactors = addRotary(file, architecture, config);
  addScoreScale(architecture, config);
  // Files of GPT-2 may hold a copy of the embedding as head.
  if (architecture != "gpt2")
    config["tie_word_embeddings"] = !file.findTensor("output.weight");
  return ReadConfig{family, std::move(config), knowsFactors};
}

} // namespace

Status requireWholeConfig(const GgufFile &file) {
  TRAINC_ASSIGN_OR_RETURN(const std::string_view architecture, file.text("general.architecture"));
  TRAINC_ASSIGN_OR_RETURN(const ReadConfig config, readConfig(file));
  if (!config.family)
    return invalidInput(
        "{}: the architecture {} cannot be imported yet; import the model's Hugging Face folder", file.path(),
        printable(architecture));
  for (const GgufTensor &tensor : file.tensors())
    if (isComputedInGguf(tensor.name) && !config.knowsFactors)
      return invalidInput(
          "{}: the tensor {} scales rotary frequencies, and the file does not say by which rule; "
          "import the model's Hugging Face folder",
          file.path(), tensor.name);
  const std::string prefix = std::string(architecture) + ".";
  for (const GgufEntry &entry : file.metadata()) {
    if (!entry.key.starts_with(prefix))
      continue;
    const std::string_view key = std::string_view(entry.key).substr(prefix.size());
    const auto has = [&](std::span<const KeyPair> keys) {
      return std::ranges::find(keys, key, &KeyPair::gguf) != keys.end();
    };
    if (!has(config.family->own) && !has(config.family->shared) &&
        (std::ranges::find(kRotaryEntries, key) == std::end(kRotaryEntries) ||
         (key == "rope.scaling.attn_factor" && architecture != "phi3")) && // read for Phi-3 alone
        std::ranges::find(kRepeatedEntries, key) == std::end(kRepeatedEntries))
      return invalidInput(
          "{}: an entry may change what the model computes, and the importer does not know it: '{}'; "
          "import the model's Hugging Face folder",
          file.path(), printable(entry.key));
    const Json value = jsonOf(entry.value);
    if (std::ranges::find(kTextEntries, key) == std::end(kTextEntries) &&
        (value.is_null() || (value.is_number_float() && !std::isfinite(value.get<double>()))))
      return invalidInput("{}: '{}': expected a finite number or a Boolean", file.path(),
                          printable(entry.key));
  }
  return {};
}

Result<std::optional<std::string>> configJsonOf(const GgufFile &file) {
  TRAINC_ASSIGN_OR_RETURN(const ReadConfig config, readConfig(file));
  return config.family ? std::optional(config.keys.dump(2)) : std::nullopt;
}

// --- From config.json to metadata ---

namespace {

/// Forms of metadata values.
enum class Form { kCount, kNumber, kBoolean };

Form formOf(std::string_view key) {
  if (key == "use_parallel_residual")
    return Form::kBoolean;
  constexpr std::string_view kNumbers[] = {"epsilon", "freq_base", "softcapping", "scale"};
  const bool isNumber =
      std::ranges::any_of(kNumbers, [&](std::string_view end) { return key.ends_with(end); });
  return isNumber ? Form::kNumber : Form::kCount;
}

/// Returns the type of the family in which models of `modelType` are written: Mistral's files say llama.
std::string_view architectureType(std::string_view modelType) {
  return modelType == "mistral" ? "llama" : modelType;
}

/// Architectures for which llama.cpp reads a window from the metadata. It ignores the window of phi3.
constexpr std::string_view kWindowed[] = {"gemma2", "gemma3"};

/// A value with which llama.cpp's architecture has no models, although its tensors could say it.
struct Unsupported {
  std::string_view architecture, key;
  bool value;
};

constexpr Unsupported kUnsupported[] = {
    {"gptneox", "attention_bias", false}, {"gptneox", "tie_word_embeddings", true}, {"falcon", "bias", true}};

/// Model types for which llama.cpp has no architecture.
constexpr std::string_view kUnknownToLlamaCpp[] = {"opt"};

/// Entries without which llama.cpp loads no model.
constexpr std::string_view kRequired[] = {"context_length", "embedding_length", "feed_forward_length",
                                          "block_count", "attention.head_count"};

/// Writes the entries of one config.json.
class ConfigEntries {
public:
  ConfigEntries(const std::string &path, Json config, GgufHeader &header)
      : path_(path), config_(std::move(config)), header_(header) {}

  Result<ConfigRest> add() {
    const Json type = config_.value("model_type", Json());
    const std::string name = type.is_string() ? type.get<std::string>() : "";
    if (std::ranges::find(kUnknownToLlamaCpp, name) != std::end(kUnknownToLlamaCpp))
      return invalidInput(
          "{}: expected a model of an architecture that llama.cpp has, found \"{}\", which no "
          "GGUF file can hold; write a Hugging Face folder with -o FOLDER",
          path_, name);
    family_ = std::ranges::find(kFamilyKeys, architectureType(name), &FamilyKeys::modelType);
    if (family_ == std::end(kFamilyKeys))
      return invalidInput(
          "{}: expected a model of a type that trainc writes as GGUF ({}), found \"{}\"; "
          "convert the folder that trainc export writes with llama.cpp's convert_hf_to_gguf.py",
          path_, knownTypes(), printable(name));
    type_ = name;
    for (const auto &[architecture, key, value] : kUnsupported)
      if (isOneOf({architecture}) && config_.value(key, Json()) == value)
        return invalidInput("{}: \"{}\" is {}, and llama.cpp's architecture {} has no such models", path_,
                            key, value, architecture);
    config_ = withClassDefaults(withNamesOfClass(std::move(config_), type_), type_);
    TRAINC_RETURN_IF_ERROR(normalizeRotary());
    normalize();
    TRAINC_RETURN_IF_ERROR(removeListsOfLayers());
    header_.addText("general.architecture", family_->architecture);
    header_.addText("general.type", "model");
    for (const auto &[key, name] : family_->own)
      TRAINC_RETURN_IF_ERROR(addKey(key, name));
    for (const auto &[key, name] : family_->shared)
      if (std::ranges::find(family_->own, key, &KeyPair::gguf) == family_->own.end())
        TRAINC_RETURN_IF_ERROR(addKey(key, name));
    if (isOneOf({"falcon"}))
      header_.addText("falcon.tensor_data_layout", "jploski"); // all queries, then all keys, then all values
    if (const auto heads = count("n_head"); isOneOf({"bloom"}) && heads)
      header_.addCount("bloom.attention.head_count_kv", static_cast<uint32_t>(*heads));
    if (isRotary())
      TRAINC_RETURN_IF_ERROR(addRotary());
    return ConfigRest{factors_, config_.dump()};
  }

private:
  static std::string knownTypes() {
    std::string types = "mistral";
    for (const FamilyKeys &family : kFamilyKeys)
      types += fmt::format(", {}", family.modelType);
    return types;
  }

  bool isRotary() const { return !isOneOf({"gpt2", "bloom"}); }
  bool isOneOf(std::initializer_list<std::string_view> architectures) const {
    return std::ranges::find(architectures, family_->architecture) != architectures.end();
  }

  void setDefault(std::string_view key, const Json &value) {
    if (Json &own = config_[std::string(key)]; own.is_null())
      own = value;
  }

  /// Gives rotary positions the keys of version 4 of transformers, and removes the base of layers with a
  /// window.
  Status normalizeRotary() {
    config_ = withRopeOfVersion4(std::move(config_), type_);
    if (const Json rope = config_.value("rope_parameters", Json()); !rope.is_null())
      return invalidInput(
          "{}: \"rope_parameters\": expected rotary positions without scaling in layers with a "
          "window, as llama.cpp computes them, found {}",
          path_, rope.dump(-1, ' ', true, Json::error_handler_t::replace));
    const Json local = config_.value("rope_local_base_freq", Json());
    config_.erase("rope_local_base_freq");
    if (local.is_null() || local == 10000.0)
      return {};
    return invalidInput(
        "{}: expected rotary positions of the base 10000 in layers with a window, which llama.cpp "
        "computes, found {}",
        path_, local.dump());
  }

  /// Sets keys whose values follow from other keys, and removes a window that has no effect.
  void normalize() {
    if (isOneOf({"gpt2"}) && count("n_embd"))
      setDefault("n_inner", 4 * *count("n_embd"));
    if (isOneOf({"bloom"}) && count("hidden_size")) {
      config_["n_inner"] = 4 * *count("hidden_size"); // the class reads no other
      setDefault("seq_length", 2048U);                // any number: positions have no table
    }
    if (isOneOf({"falcon"})) {
      setDefault("ffn_hidden_size", 4 * count("hidden_size").value_or(0));
      if (config_["new_decoder_architecture"] == true)
        setDefault("num_kv_heads", config_["num_attention_heads"]);
      else
        config_["num_kv_heads"] = config_["multi_query"] == true ? Json(1U) : config_["num_attention_heads"];
    }
    const auto window = count("sliding_window"), longest = count("max_position_embeddings");
    const bool needsSwitch = isOneOf({"qwen2", "qwen3", "smollm3"});
    if (config_.value("use_sliding_window", Json(!needsSwitch)) == false || window == 0 ||
        (window && longest && *window >= *longest))
      config_["sliding_window"] = nullptr; // none
  }

  Status removeListsOfLayers() {
    const auto follows = [&](const char *key, const auto &valueOfLayer) {
      const Json list = config_.value(key, Json());
      if (!list.is_array())
        return;
      for (size_t i = 0; i < list.size(); ++i)
        if (list[i] != valueOfLayer(i))
          return;
      config_.erase(key);
    };
    if (isOneOf({"smollm3"}))
      follows("no_rope_layers", [](size_t i) { return (i + 1) % 4 == 0 ? Json(0) : Json(1); });
    const size_t period = isOneOf({"gemma2"}) ? 2 : isOneOf({"gemma3"}) ? 6 : 0;
    if (period == 0)
      return {};
    follows("layer_types", [&](size_t i) {
      return (i + 1) % period == 0 ? Json("full_attention") : Json("sliding_attention");
    });
    if (config_.value("sliding_window_pattern", Json()) == period)
      config_.erase("sliding_window_pattern");
    if (config_.value("layer_types", Json()).is_null())
      return {};
    return invalidInput("{}: \"layer_types\": expected full_attention in each {}th layer and a window in all "
                        "others, as llama.cpp's {} computes, found others",
                        path_, period, family_->architecture);
  }

  std::optional<uint64_t> count(const char *key) const {
    const Json value = config_.value(key, Json());
    return value.is_number_unsigned() ? std::optional(value.get<uint64_t>()) : std::nullopt;
  }

  Status addKey(std::string_view key, std::string_view name) {
    const Json value = config_.value(std::string(name), Json());
    if (value.is_null()) {
      if (std::ranges::find(kRequired, key) == std::end(kRequired))
        return {};
      return invalidInput("{}: expected the key \"{}\", found none", path_, name);
    }
    if (key == "attention.sliding_window" &&
        std::ranges::find(kWindowed, family_->architecture) == std::end(kWindowed))
      return invalidInput(
          "{}: \"{}\" is {}, and llama.cpp's architecture {} has no window; set it to null if "
          "the model's texts are shorter",
          path_, name, value.dump(), family_->architecture);
    const std::string whole = fmt::format("{}.{}", family_->architecture, key);
    const Form form = formOf(key);
    if (form == Form::kBoolean && value.is_boolean())
      header_.addBoolean(whole, value.get<bool>());
    else if (form == Form::kNumber && value.is_number())
      header_.addNumber(whole, static_cast<float>(value.get<double>()));
    else if (form == Form::kCount && value.is_number_unsigned() && value.get<uint64_t>() <= UINT32_MAX)
      header_.addCount(whole, static_cast<uint32_t>(value.get<uint64_t>()));
    else
      return invalidInput("{}: \"{}\": expected {}, found {}", path_, name,
                          form == Form::kBoolean  ? "true or false"
                          : form == Form::kNumber ? "a number"
                                                  : "a whole number",
                          value.dump(-1, ' ', true, Json::error_handler_t::replace));
    return {};
  }

  Status addRotary() {
    const auto given = count("head_dim");
    const std::string_view architecture = family_->architecture;
    const uint64_t head = headWidthOf(config_);
    const Json share = config_.value("partial_rotary_factor", Json());
    const double rotated = static_cast<double>(head) * (share.is_number() ? share.get<double>() : 1.0);
    if (given)
      header_.addCount(fmt::format("{}.attention.value_length", architecture), static_cast<uint32_t>(*given));
    header_.addCount(fmt::format("{}.rope.dimension_count", architecture),
                     static_cast<uint32_t>(std::clamp(rotated, 0.0, double(head))));
    return addScaling(config_.value("rope_scaling", Json()));
  }

  Status addScaling(const Json &scaling) {
    const Json type = !scaling.is_object()            ? Json()
                      : scaling.contains("rope_type") ? scaling["rope_type"]
                                                      : scaling.value("type", Json());
    if (type.is_null() || type == "default")
      return {};
    const Json factor = scaling.value("factor", Json());
    if (type == "llama3" && isOneOf({"llama", "smollm3"}))
      return computeFactors(scaling);
    if ((type != "linear" && type != "yarn") || !factor.is_number())
      return invalidInput("{}: expected rotary positions that are scaled by the rule linear, yarn or llama3, "
                          "or not scaled, found {}, which trainc cannot write as GGUF; convert the "
                          "folder that trainc export writes with llama.cpp's convert_hf_to_gguf.py",
                          path_, scaling.dump(-1, ' ', true, Json::error_handler_t::replace));
    const std::string prefix = fmt::format("{}.rope.scaling.", family_->architecture);
    header_.addText(prefix + "type", type.get<std::string>());
    header_.addNumber(prefix + "factor", static_cast<float>(factor.get<double>()));
    if (const Json original = scaling.value("original_max_position_embeddings", Json());
        original.is_number_unsigned())
      header_.addCount(prefix + "original_context_length", original.get<uint32_t>());
    return {};
  }

  Status computeFactors(const Json &scaling) {
    double values[4];
    const char *keys[] = {"factor", "low_freq_factor", "high_freq_factor",
                          "original_max_position_embeddings"};
    for (size_t i = 0; i < std::size(keys); ++i) {
      const Json value = scaling.value(keys[i], Json());
      if (!value.is_number() || value.get<double>() <= 0)
        return invalidInput("{}: expected a number above 0 as \"{}\" of rotary positions, found {}", path_,
                            keys[i], value.dump(-1, ' ', true, Json::error_handler_t::replace));
      values[i] = value.get<double>();
    }
    const auto [factor, low, high, original] = values;
    const Json base = config_.value("rope_theta", Json());
    factors_ = Llama3Rule{factor, low, high, original}.factors(
        headWidthOf(config_), base.is_number() ? base.get<double>() : 10000.0);
    return {};
  }

  const std::string &path_;
  Json config_;
  GgufHeader &header_;
  std::string type_; ///< of the model
  const FamilyKeys *family_ = nullptr;
  std::vector<float> factors_; ///< see addConfig()
};

} // namespace

Result<ConfigRest> addConfig(const std::string &path, std::string_view text, GgufHeader &header) {
  TRAINC_ASSIGN_OR_RETURN(Json config, parseJson(path, text));
  if (!config.is_object())
    return invalidInput("{}: expected an object, found {}", path, config.type_name());
  return ConfigEntries(path, textConfigOf(config), header).add();
}

Result<std::string> wholeConfigOf(const GgufFile &file) {
  TRAINC_ASSIGN_OR_RETURN(const std::string_view architecture, file.text("general.architecture"));
  TRAINC_ASSIGN_OR_RETURN(ReadConfig config, readConfig(file));
  for (const Implied &each : kImplied)
    if (each.architecture == architecture)
      config.keys[std::string(each.key)] = Json::parse(each.value);
  return config.keys.dump(2);
}

} // namespace trainc
