// Decoders that are laid out as Llama.
#include "base/config_defaults.h"
#include "lib/Import/Family.h"
#include "lib/Import/families/llama_parts.h"

#include <algorithm>

namespace trainc::importer {

Decoder readLlama(Config &config) {
  Decoder decoder = readLlamaParts(config);
  readBiases(config, decoder);
  useRotaryLayers(config, decoder);
  return decoder;
}

Decoder readMistral(Config &config) {
  Decoder decoder = readLlamaParts(config);
  useRotaryLayers(config, decoder, config.sizeIfAny("sliding_window"));
  return decoder;
}

Decoder readMinistral3(Config &config) {
  Decoder decoder = readLlamaParts(config);
  Rope rope = readRope(config, ropeKeys(decoder));
  const std::string object = ropeObject(config);
  const auto key = [&](const char *name) { return object + "." + name; };
  if (config.isKnown(key("max_position_embeddings")))
    config.size(key("max_position_embeddings")); // the outer key counts
  // From the original length on, queries are multiplied by 1 + beta ln(1 + floor(position / original)).
  if (config.isKnown(key("llama_4_scaling_beta")) && config.number(key("llama_4_scaling_beta")) != 0)
    rope.maxLength = config.size(key("original_max_position_embeddings"));
  useEqualLayers(decoder, readLayers(config, "num_hidden_layers"), rope, config.sizeIfAny("sliding_window"));
  return decoder;
}

/// Windows of Qwen2 and Qwen3: layers from max_window_layers on, or those that layer_types names.
static void useQwenLayers(Config &config, Decoder &decoder) {
  config.require("use_mrope", false, "positions in several dimensions are not supported");
  if (!config.flag("use_sliding_window") || config.isNull("sliding_window")) {
    config.ignore({"sliding_window", "max_window_layers"});
    useRotaryLayers(config, decoder);
    readSlidingLayers(config, int64_t(decoder.layers.size()), [](int64_t) { return false; });
    return;
  }
  const int64_t first = config.size("max_window_layers", std::nullopt, 0);
  const Rope rope = readRope(config, ropeKeys(decoder));
  useSlidingLayers(config, decoder, rope, rope, [&](int64_t index) { return index >= first; });
}

Decoder readQwen2(Config &config) {
  Decoder decoder = readLlamaParts(config);
  decoder.attention.hasBias = true;
  useQwenLayers(config, decoder);
  return decoder;
}

Decoder readQwen3(Config &config) {
  Decoder decoder = readLlamaParts(config);
  readAttentionBias(config, decoder);
  useHeadNorms(decoder, Attention::EachHead);
  useQwenLayers(config, decoder);
  return decoder;
}

Decoder readSmolLM3(Config &config) {
  Decoder decoder = readLlamaParts(config);
  readBiases(config, decoder);
  config.require("use_sliding_window", false, "windows of this family are not supported");
  config.ignore({"sliding_window"});
  const int64_t count = readLayers(config, "num_hidden_layers");
  if (std::ranges::count(readSlidingLayers(config, count, [](int64_t) { return false; }), true) != 0)
    config.fail("'layer_types' has sliding_attention: windows of this family are not supported");
  const int64_t interval = config.size("no_rope_layer_interval");
  const auto rotates = config.wholes("no_rope_layers"); // 1: the layer has rotary positions
  if (rotates && int64_t(rotates->size()) != count)
    config.fail(fmt::format("'no_rope_layers' has {} entries for {} layers", rotates->size(), count));
  const Rope rope = readRope(config, ropeKeys(decoder));
  useLayersOfTwoKinds(decoder, count, {"layer", rope, std::nullopt},
                      {"layer_without_positions", std::nullopt, std::nullopt}, [&](int64_t index) {
                        return rotates && index < int64_t(rotates->size()) ? (*rotates)[size_t(index)] == 0
                                                                           : (index + 1) % interval == 0;
                      });
  return decoder;
}

/// Reads the parts that OLMo 2 and 3 share.
static Decoder readOlmo2Parts(Config &config) {
  Decoder decoder = readLlamaParts(config);
  readAttentionBias(config, decoder);
  useHeadNorms(decoder, Attention::AllHeads);
  decoder.norms.attentionOut = "post_attention_layernorm";
  decoder.norms.mlpOut = "post_feedforward_layernorm";
  decoder.norms.attention.clear();
  decoder.norms.mlp.clear();
  return decoder;
}

Decoder readOlmo2(Config &config) {
  Decoder decoder = readOlmo2Parts(config);
  useRotaryLayers(config, decoder);
  return decoder;
}

/// Rotary positions of OLMo 3's layers with a window, which have no scaling.
static Rope readSlidingRopeOfOlmo3(Config &config, RopeKeys keys) {
  const auto usual = classDefaults("olmo3").value("rope_theta", 0.0);
  keys.scaling.clear();
  const Rope rope = readRopeOfLayers(config, "sliding_attention", keys);
  if (rope.theta != usual && !config.has("rope_parameters.sliding_attention.rope_theta"))
    config.fail(
        fmt::format("'rope_theta' is {}: in layers with a window, transformers 4 computes with it, and "
                    "transformers 5 with {}; give both kinds of layers a 'rope_theta' in "
                    "'rope_parameters': \"full_attention\" and \"sliding_attention\"",
                    rope.theta, usual));
  return rope;
}

Decoder readOlmo3(Config &config) {
  Decoder decoder = readOlmo2Parts(config);
  const RopeKeys keys = ropeKeys(decoder);
  const Rope full = readRopeOfLayers(config, "full_attention", keys);
  const Rope sliding = readSlidingRopeOfOlmo3(config, keys);
  useSlidingLayers(config, decoder, full, sliding, [](int64_t index) { return (index + 1) % 4 != 0; });
  return decoder;
}

Decoder readGranite(Config &config) {
  Decoder decoder = readLlamaParts(config);
  readBiases(config, decoder);
  decoder.embeddingScale = config.number("embedding_multiplier");
  decoder.residualScale = config.number("residual_multiplier");
  decoder.logitsScale = config.number("logits_scaling");
  if (decoder.logitsScale == 0)
    config.fail("'logits_scaling': expected a number other than 0");
  decoder.attention.scale = config.number("attention_multiplier");
  useRotaryLayers(config, decoder);
  return decoder;
}

Decoder readPhi3(Config &config) {
  Decoder decoder = readLlamaParts(config);
  decoder.attention.packing = Attention::Rows;
  decoder.attention.query = "self_attn.qkv_proj";
  decoder.mlp.gate.clear();
  decoder.mlp.up = "mlp.gate_up_proj";
  decoder.mlp.packsGate = true;
  decoder.dropout.residual = config.dropout("resid_pdrop");
  config.ignore({"embd_pdrop"}); // the class does not use it
  for (const char *key : {"attention_bias", "mlp_bias", "lm_head_bias"})
    config.require(key, false, "layers of this family have no biases");
  config.require("full_attn_mod", 1, "attention of several kinds is not supported");
  config.require("interpolate_factor", 1, "interpolated positions are not supported");
  useRotaryLayers(config, decoder, config.sizeIfAny("sliding_window"));
  config.ignore({"original_max_position_embeddings"}); // without a scaling
  return decoder;
}

// --- With layer norms ---

static constexpr LlamaForm kWithLayerNorms = {.norm = Norm::Layer, .epsilon = "layer_norm_eps"};

/// Layer norms of the queries and keys, before their rotation.
static void readHeadLayerNorms(Config &config, Attention &attention, Attention::HeadNorms norms) {
  if (!config.flag("qk_layernorm"))
    return;
  attention.headNorms = norms;
  attention.queryNorm = "self_attn.q_layernorm";
  attention.keyNorm = "self_attn.k_layernorm";
}

Decoder readStableLm(Config &config) {
  Decoder decoder = readLlamaParts(config, kWithLayerNorms);
  Attention &attention = decoder.attention;
  config.require("head_dim", decoder.width / attention.heads, "heads of another width are not supported");
  attention.hasBias = config.flag("use_qkv_bias");
  readHeadLayerNorms(config, attention, Attention::OwnWeights);
  requireNoDropout(config, "hidden_dropout", "branches");
  decoder.isParallel = config.flag("use_parallel_residual");
  if (decoder.isParallel)
    decoder.norms.mlp.clear();
  useRotaryLayers(config, decoder);
  return decoder;
}

Decoder readPhi(Config &config) {
  Decoder decoder = readLlamaParts(config, kWithLayerNorms);
  decoder.isParallel = true;
  decoder.norms.mlp.clear();
  decoder.finalNorm = "model.final_layernorm";
  decoder.attention.output = "self_attn.dense";
  decoder.attention.hasBias = decoder.attention.hasOutputBias = true;
  readHeadLayerNorms(config, decoder.attention, Attention::EachHead);
  decoder.mlp.gate.clear();
  decoder.mlp.up = "mlp.fc1";
  decoder.mlp.down = "mlp.fc2";
  decoder.mlp.hasBias = decoder.hasHeadBias = true;
  decoder.dropout.embedding = config.dropout("embd_pdrop");
  decoder.dropout.residual = config.dropout("resid_pdrop");
  useRotaryLayers(config, decoder);
  return decoder;
}

} // namespace trainc::importer
