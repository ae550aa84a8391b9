#include "runtime/formats/gguf_config.h"

#include "base/plain_text.h"
#include "runtime/formats/gguf_names.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

namespace trainc {

namespace {

using Json = nlohmann::json;

/// A key of the metadata, without the architecture, and Hugging Face's.
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

/// Keys of a family: its own come before shared ones.
struct FamilyKeys {
  std::string_view architecture, modelType;
  std::span<const KeyPair> own = {}, shared = kLlamaKeys;
};

constexpr FamilyKeys kFamilyKeys[] = {
    {"llama", "llama"},       {"granite", "granite", kGraniteKeys},
    {"smollm3", "smollm3"},   {"qwen2", "qwen2"},
    {"qwen3", "qwen3"},       {"gemma", "gemma"},
    {"gemma2", "gemma2"},     {"gemma3", "gemma3_text"},
    {"phi3", "phi3"},         {"olmo2", "olmo2"},
    {"stablelm", "stablelm"}, {"starcoder2", "starcoder2", kStarcoder2Keys},
    {"gptneox", "gpt_neox"},  {"gpt2", "gpt2", kGpt2Keys, {}},
};

/// A number or Boolean as JSON; null for other values. The shortest decimals of an f32 are those of the
/// configuration that it was written from.
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

/// Entries below the architecture's name that addRotary() reads, and entries that others repeat.
constexpr std::string_view kRotaryEntries[] = {"rope.dimension_count", "rope.scaling.type",
                                               "rope.scaling.factor", "rope.scaling.original_context_length",
                                               "rope.scaling.finetuned"};
constexpr std::string_view kRepeatedEntries[] = {"vocab_size", "attention.value_length",
                                                 // GPT-2 has as many key heads, which divide the width.
                                                 "attention.head_count_kv", "attention.key_length"};

/// Adds the share of each head that is rotated, and the scaling of the frequencies.
void addRotary(const GgufFile &file, std::string_view architecture, Json &config) {
  const Json rotary = valueOf(file, architecture, "rope.dimension_count");
  const Json width = config.value("hidden_size", Json()), heads = config.value("num_attention_heads", Json());
  Json head = config.value("head_dim", Json());
  if (head.is_null() && width.is_number_unsigned() && heads.is_number_unsigned() && heads > 0U)
    head = width.get<uint64_t>() / heads.get<uint64_t>();
  // Classes of these families rotate a part of each head unless the configuration says another.
  const bool hasDefaultShare = architecture == "gptneox" || architecture == "stablelm";
  if (rotary.is_number_unsigned() && head.is_number_unsigned() && head > 0U && rotary != head)
    config["partial_rotary_factor"] = double(rotary.get<uint64_t>()) / double(head.get<uint64_t>());
  else if (hasDefaultShare)
    config["partial_rotary_factor"] = 1.0;
  Json type = valueOf(file, architecture, "rope.scaling.type");
  const Json factor = valueOf(file, architecture, "rope.scaling.factor");
  if (type.is_null() && factor.is_number() && factor.get<double>() != 0 && factor.get<double>() != 1)
    type = "linear"; // as llama.cpp reads it
  if (type.is_null() || type == "none")
    return;
  Json scaling = {{"rope_type", type}};
  if (!factor.is_null())
    scaling["factor"] = factor;
  if (const Json original = valueOf(file, architecture, "rope.scaling.original_context_length");
      !original.is_null())
    scaling["original_max_position_embeddings"] = original;
  config["rope_scaling"] = scaling;
}

/// The number from whose root Gemma's scores are scaled, which no entry has: llama.cpp knows the largest
/// models by their number of layers.
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

} // namespace

Status requireWholeConfig(const GgufFile &file) {
  TRAINC_ASSIGN_OR_RETURN(const std::string_view architecture, file.text("general.architecture"));
  const auto *family = std::ranges::find(kFamilyKeys, architecture, &FamilyKeys::architecture);
  if (family == std::end(kFamilyKeys))
    return invalidInput(
        "{}: the architecture {} cannot be imported yet; import the model's Hugging Face folder", file.path(),
        printable(architecture));
  for (const GgufTensor &tensor : file.tensors())
    if (isComputedInGguf(tensor.name))
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
    if (!has(family->own) && !has(family->shared) &&
        std::ranges::find(kRotaryEntries, key) == std::end(kRotaryEntries) &&
        std::ranges::find(kRepeatedEntries, key) == std::end(kRepeatedEntries))
      return invalidInput(
          "{}: an entry may change what the model computes, and the importer does not know it: '{}'; "
          "import the model's Hugging Face folder",
          file.path(), printable(entry.key));
    const Json value = jsonOf(entry.value);
    if (key != "rope.scaling.type" &&
        (value.is_null() || (value.is_number_float() && !std::isfinite(value.get<double>()))))
      return invalidInput("{}: '{}': expected a finite number or a Boolean", file.path(),
                          printable(entry.key));
  }
  return {};
}

Result<std::optional<std::string>> configJsonOf(const GgufFile &file) {
  TRAINC_ASSIGN_OR_RETURN(const std::string_view architecture, file.text("general.architecture"));
  const auto *family = std::ranges::find(kFamilyKeys, architecture, &FamilyKeys::architecture);
  if (family == std::end(kFamilyKeys))
    return std::optional<std::string>();
  Json config = {{"model_type", family->modelType}};
  for (const std::span<const KeyPair> keys : {family->shared, family->own})
    for (const auto &[key, name] : keys)
      if (const GgufValue *value = file.find(fmt::format("{}.{}", architecture, key)))
        if (Json json = jsonOf(*value); !json.is_null())
          config[std::string(name)] = std::move(json);
  if (const GgufArray *tokens = nullptr; !config.contains("vocab_size")) {
    TRAINC_ASSIGN_OR_RETURN(tokens, file.array("tokenizer.ggml.tokens", GgufValueType::kString));
    if (tokens)
      config["vocab_size"] = tokens->count;
  }
  if (config.value("sliding_window", Json()) == 0U) // none
    config.erase("sliding_window");
  addRotary(file, architecture, config);
  addScoreScale(architecture, config);
  // Files of GPT-2 may hold a copy of the embedding as head.
  if (architecture != "gpt2")
    config["tie_word_embeddings"] = !file.findTensor("output.weight");
  return std::optional(config.dump(2));
}

} // namespace trainc
