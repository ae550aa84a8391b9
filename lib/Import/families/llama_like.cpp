// Decoders that are laid out as Llama.
#include "lib/Import/Family.h"
#include "lib/Import/families/llama_parts.h"

#include <algorithm>

namespace trainc::importer {

Decoder readLlama(Config &config) {
  const LlamaDefaults defaults;
  Decoder decoder = readLlamaParts(config, defaults);
  readBiases(config, decoder);
  useRotaryLayers(config, decoder, defaults);
  return decoder;
}

Decoder readMistral(Config &config) {
  const LlamaDefaults defaults{.mlpWidth = 14336, .keyHeads = 8, .maxPositions = 131072};
  Decoder decoder = readLlamaParts(config, defaults);
  // A config without the key has the class's window; one with null has none.
  std::optional<int64_t> window;
  if (!config.isNull("sliding_window"))
    window = config.size("sliding_window", 4096);
  useRotaryLayers(config, decoder, defaults, window);
  return decoder;
}

/// `llama_4_scaling_beta` of Ministral 3: from the original length on, queries are multiplied by
/// 1 + beta ln(1 + floor(position / original)). `object` holds the key; without that object, the class's
/// default counts.
static double readQueryScalingBeta(Config &config, const std::string &object) {
  constexpr double kDefault = 0.1;
  if (!config.isObject(object))
    return kDefault;
  const std::string key = object + ".llama_4_scaling_beta";
  return config.has(key) ? config.number(key) : 0;
}

Decoder readMinistral3(Config &config) {
  constexpr double kTheta = 1e6;
  constexpr int64_t kOriginal = 16384;
  const LlamaDefaults defaults{.vocabulary = 131072,
                               .mlpWidth = 14336,
                               .layers = 34,
                               .keyHeads = 8,
                               .headWidth = 128,
                               .maxPositions = 262144,
                               .epsilon = 1e-5,
                               .theta = kTheta};
  Decoder decoder = readLlamaParts(config, defaults);
  const std::string object = config.isObject("rope_parameters") ? "rope_parameters" : "rope_scaling";
  const bool isGiven = config.isObject(object);
  Rope rope = readRope(config, ropeDefaults(decoder, defaults));
  if (!isGiven)
    rope.scaling = fmt::format("yarn(factor 16, original {}, attention_factor 1)", kOriginal);
  if (config.has(object + ".max_position_embeddings"))
    config.size(object + ".max_position_embeddings"); // the outer key counts
  const std::string original = object + ".original_max_position_embeddings";
  if (readQueryScalingBeta(config, object) != 0)
    rope.maxLength = config.has(original) ? config.size(original) : kOriginal;
  std::optional<int64_t> window;
  if (config.has("sliding_window"))
    window = config.size("sliding_window");
  useEqualLayers(decoder, readLayerCount(config, defaults), rope, window);
  return decoder;
}

/// Windows of Qwen2 and Qwen3: layers from max_window_layers on, or those that layer_types names.
static void useQwenLayers(Config &config, Decoder &decoder, const LlamaDefaults &defaults) {
  config.require("use_mrope", false, "positions in several dimensions are not supported");
  if (!config.flag("use_sliding_window", false) || config.isNull("sliding_window")) {
    config.ignore({"sliding_window", "max_window_layers"});
    useRotaryLayers(config, decoder, defaults);
    readSlidingLayers(config, int64_t(decoder.layers.size()), [](int64_t) { return false; });
    return;
  }
  const int64_t count = readLayerCount(config, defaults);
  const int64_t window = config.size("sliding_window", 4096);
  const int64_t first = config.size("max_window_layers", 28, 0);
  const Rope rope = readRope(config, ropeDefaults(decoder, defaults));
  const std::vector<bool> slides =
      readSlidingLayers(config, count, [&](int64_t index) { return index >= first; });
  useLayersOfTwoKinds(decoder, count, {"layer", rope, std::nullopt}, {"sliding_layer", rope, window},
                      [&](int64_t index) { return slides[size_t(index)]; });
}

Decoder readQwen2(Config &config) {
  const LlamaDefaults defaults{
      .vocabulary = 151936, .mlpWidth = 22016, .keyHeads = 32, .maxPositions = 32768};
  Decoder decoder = readLlamaParts(config, defaults);
  decoder.attention.hasBias = true;
  useQwenLayers(config, decoder, defaults);
  return decoder;
}

Decoder readQwen3(Config &config) {
  const LlamaDefaults defaults{
      .vocabulary = 151936, .mlpWidth = 22016, .keyHeads = 32, .headWidth = 128, .maxPositions = 32768};
  Decoder decoder = readLlamaParts(config, defaults);
  decoder.attention.hasBias = decoder.attention.hasOutputBias = config.flag("attention_bias", false);
  useHeadNorms(decoder, Attention::EachHead);
  useQwenLayers(config, decoder, defaults);
  return decoder;
}

Decoder readSmolLM3(Config &config) {
  const LlamaDefaults defaults{.vocabulary = 128256,
                               .width = 2048,
                               .layers = 36,
                               .heads = 16,
                               .keyHeads = 4,
                               .maxPositions = 32768,
                               .theta = 2e6,
                               .isTied = true};
  Decoder decoder = readLlamaParts(config, defaults);
  readBiases(config, decoder);
  config.require("use_sliding_window", false, "windows of this family are not supported");
  config.ignore({"sliding_window"});
  const int64_t count = readLayerCount(config, defaults);
  if (std::ranges::count(readSlidingLayers(config, count, [](int64_t) { return false; }), true) != 0)
    config.fail("'layer_types' has sliding_attention: windows of this family are not supported");
  const int64_t interval = config.size("no_rope_layer_interval", 4);
  const auto rotates = config.wholes("no_rope_layers"); // 1: the layer has rotary positions
  if (rotates && int64_t(rotates->size()) != count)
    config.fail(fmt::format("'no_rope_layers' has {} entries for {} layers", rotates->size(), count));
  const Rope rope = readRope(config, ropeDefaults(decoder, defaults));
  useLayersOfTwoKinds(decoder, count, {"layer", rope, std::nullopt},
                      {"layer_without_positions", std::nullopt, std::nullopt}, [&](int64_t index) {
                        return rotates && index < int64_t(rotates->size()) ? (*rotates)[size_t(index)] == 0
                                                                           : (index + 1) % interval == 0;
                      });
  return decoder;
}

static constexpr LlamaDefaults kOlmoDefaults{.vocabulary = 50304, .epsilon = 1e-5};

/// Reads the parts that OLMo 2 and 3 share.
static Decoder readOlmo2Parts(Config &config, const LlamaDefaults &defaults) {
  Decoder decoder = readLlamaParts(config, defaults);
  decoder.attention.hasBias = decoder.attention.hasOutputBias = config.flag("attention_bias", false);
  useHeadNorms(decoder, Attention::AllHeads);
  decoder.norms.attentionOut = "post_attention_layernorm";
  decoder.norms.mlpOut = "post_feedforward_layernorm";
  decoder.norms.attention.clear();
  decoder.norms.mlp.clear();
  return decoder;
}

Decoder readOlmo2(Config &config) {
  Decoder decoder = readOlmo2Parts(config, kOlmoDefaults);
  useRotaryLayers(config, decoder, kOlmoDefaults);
  return decoder;
}

Decoder readOlmo3(Config &config) {
  Decoder decoder = readOlmo2Parts(config, kOlmoDefaults);
  LlamaDefaults defaults = kOlmoDefaults;
  defaults.theta = 500000;
  const RopeDefaults usual = ropeDefaults(decoder, defaults);
  const Rope full = readRopeOfLayers(config, "full_attention", usual);
  // From the form of version 4, transformers 5 gives scalings and another base to layers without a window
  // alone.
  if (config.has("rope_theta"))
    config.require(
        "rope_theta", defaults.theta,
        "transformers 4 and 5 read it differently; write 'rope_parameters' of each type of layers");
  Rope sliding;
  sliding.theta = defaults.theta;
  if (config.has("rope_parameters.sliding_attention"))
    sliding = readRopeOfLayers(config, "sliding_attention", usual);
  std::optional<int64_t> window;
  if (!config.isNull("sliding_window"))
    window = config.size("sliding_window", 4096);
  const int64_t count = readLayerCount(config, defaults);
  const std::vector<bool> slides =
      readSlidingLayers(config, count, [](int64_t index) { return (index + 1) % 4 != 0; });
  useLayersOfTwoKinds(decoder, count, {"layer", full, std::nullopt}, {"sliding_layer", sliding, window},
                      [&](int64_t index) { return slides[size_t(index)]; });
  return decoder;
}

Decoder readGranite(Config &config) {
  const LlamaDefaults defaults;
  Decoder decoder = readLlamaParts(config, defaults);
  readBiases(config, decoder);
  decoder.embeddingScale = config.number("embedding_multiplier", 1);
  decoder.residualScale = config.number("residual_multiplier", 1);
  decoder.logitsScale = config.number("logits_scaling", 1);
  if (decoder.logitsScale == 0)
    config.fail("'logits_scaling': expected a number other than 0");
  decoder.attention.scale = config.number("attention_multiplier", 1);
  useRotaryLayers(config, decoder, defaults);
  return decoder;
}

Decoder readPhi3(Config &config) {
  const LlamaDefaults defaults{.vocabulary = 32064,
                               .width = 3072,
                               .mlpWidth = 8192,
                               .maxPositions = 4096,
                               .epsilon = 1e-5,
                               .rotaryShare = 1,
                               .originalPositions = 4096};
  Decoder decoder = readLlamaParts(config, defaults);
  decoder.attention.packing = Attention::Rows;
  decoder.attention.query = "self_attn.qkv_proj";
  decoder.mlp.gate.clear();
  decoder.mlp.up = "mlp.gate_up_proj";
  decoder.mlp.packsGate = true;
  decoder.dropout.residual = config.dropout("resid_pdrop", 0);
  config.ignore({"embd_pdrop"}); // the class does not use it
  for (const char *key : {"attention_bias", "mlp_bias", "lm_head_bias"})
    config.require(key, false, "layers of this family have no biases");
  config.require("full_attn_mod", 1, "attention of several kinds is not supported");
  config.require("interpolate_factor", 1, "interpolated positions are not supported");
  std::optional<int64_t> window;
  if (config.has("sliding_window"))
    window = config.size("sliding_window");
  useRotaryLayers(config, decoder, defaults, window);
  config.ignore({"original_max_position_embeddings"}); // without a scaling
  return decoder;
}

} // namespace trainc::importer
