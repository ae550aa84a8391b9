#include "lib/Import/families/llama_parts.h"

#include <algorithm>

namespace trainc::importer {

Decoder readLlamaParts(Config &config, const LlamaDefaults &defaults) {
  Decoder decoder;
  decoder.vocabulary = config.size("vocab_size", defaults.vocabulary);
  decoder.width = config.size("hidden_size", defaults.width);
  decoder.maxPositions = config.size("max_position_embeddings", defaults.maxPositions);
  decoder.initialRange = config.number("initializer_range", 0.02);
  decoder.norm = {Norm::Rms, config.number("rms_norm_eps", defaults.epsilon)};
  decoder.isTied = config.flag("tie_word_embeddings", defaults.isTied);
  config.ignore({"layer_norm_eps"}); // some GGUF files have it, too; these families have no layer norms

  Attention &attention = decoder.attention;
  attention.heads = config.size("num_attention_heads", defaults.heads);
  // null means as many as heads, also where the class has another default.
  attention.keyHeads = defaults.keyHeads == 0 || config.isNull("num_key_value_heads")
                           ? config.sizeOr("num_key_value_heads", attention.heads)
                           : config.size("num_key_value_heads", defaults.keyHeads);
  attention.headWidth = defaults.headWidth == 0
                            ? config.sizeOr("head_dim", std::max<int64_t>(decoder.width / attention.heads, 1))
                            : config.size("head_dim", defaults.headWidth);
  attention.query = "self_attn.q_proj";
  attention.key = "self_attn.k_proj";
  attention.value = "self_attn.v_proj";
  attention.output = "self_attn.o_proj";
  checkHeads(config, attention);
  decoder.dropout.attention = config.dropout("attention_dropout", 0);

  decoder.mlp.width = config.size("intermediate_size", defaults.mlpWidth);
  decoder.mlp.activation = activationOf(config, defaults.activationKey, defaults.activation);
  decoder.mlp.gate = "mlp.gate_proj";
  decoder.mlp.up = "mlp.up_proj";
  decoder.mlp.down = "mlp.down_proj";

  decoder.norms.attention = "input_layernorm";
  decoder.norms.mlp = "post_attention_layernorm";
  decoder.embedding = "model.embed_tokens";
  decoder.layerScope = "model.layers";
  decoder.finalNorm = "model.norm";
  decoder.head = "lm_head";
  return decoder;
}

int64_t readLayerCount(Config &config, const LlamaDefaults &defaults) {
  return readLayers(config, "num_hidden_layers", defaults.layers);
}

void readBiases(Config &config, Decoder &decoder) {
  decoder.attention.hasBias = decoder.attention.hasOutputBias = config.flag("attention_bias", false);
  decoder.mlp.hasBias = config.flag("mlp_bias", false);
}

void useHeadNorms(Decoder &decoder, Attention::HeadNorms norms) {
  decoder.attention.headNorms = norms;
  decoder.attention.queryNorm = "self_attn.q_norm";
  decoder.attention.keyNorm = "self_attn.k_norm";
}

RopeDefaults ropeDefaults(const Decoder &decoder, const LlamaDefaults &defaults) {
  return {.theta = defaults.theta,
          .headWidth = decoder.attention.headWidth,
          .maxPositions = decoder.maxPositions,
          .rotaryShare = defaults.rotaryShare,
          .originalPositions = defaults.originalPositions};
}

void useRotaryLayers(Config &config, Decoder &decoder, const LlamaDefaults &defaults,
                     std::optional<int64_t> window) {
  const Rope rope = readRope(config, ropeDefaults(decoder, defaults));
  useEqualLayers(decoder, readLayerCount(config, defaults), rope, window);
}

} // namespace trainc::importer
