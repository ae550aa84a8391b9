#include "lib/Import/families/llama_parts.h"

#include <algorithm>

namespace trainc::importer {

Decoder readLlamaParts(Config &config, const LlamaForm &form) {
  Decoder decoder;
  decoder.vocabulary = config.size("vocab_size");
  decoder.width = config.size("hidden_size");
  decoder.maxPositions = config.size("max_position_embeddings");
  decoder.initialRange = config.number("initializer_range");
  decoder.norm = {form.norm, config.number(form.epsilon)};
  decoder.isTied = config.flag("tie_word_embeddings");
  config.ignore({"layer_norm_eps"}); // some GGUF files have it, too; families with RMSNorms do not read it

  Attention &attention = decoder.attention;
  attention.heads = config.size("num_attention_heads");
  attention.keyHeads = config.sizeOr("num_key_value_heads", attention.heads);
  attention.headWidth = config.sizeOr("head_dim", std::max<int64_t>(decoder.width / attention.heads, 1));
  attention.query = "self_attn.q_proj";
  attention.key = "self_attn.k_proj";
  attention.value = "self_attn.v_proj";
  attention.output = "self_attn.o_proj";
  checkHeads(config, attention);
  decoder.dropout.attention = config.dropout("attention_dropout");

  decoder.mlp.width = config.size("intermediate_size");
  decoder.mlp.activation = activationOf(config, form.activation);
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

void readAttentionBias(Config &config, Decoder &decoder) {
  decoder.attention.hasBias = decoder.attention.hasOutputBias = config.flag("attention_bias");
}

void readBiases(Config &config, Decoder &decoder) {
  readAttentionBias(config, decoder);
  decoder.mlp.hasBias = config.flag("mlp_bias");
}

void useHeadNorms(Decoder &decoder, Attention::HeadNorms norms) {
  decoder.attention.headNorms = norms;
  decoder.attention.queryNorm = "self_attn.q_norm";
  decoder.attention.keyNorm = "self_attn.k_norm";
}

RopeKeys ropeKeys(const Decoder &decoder) {
  return {.headWidth = decoder.attention.headWidth, .maxPositions = decoder.maxPositions};
}

void useRotaryLayers(Config &config, Decoder &decoder, std::optional<int64_t> window) {
  const Rope rope = readRope(config, ropeKeys(decoder));
  useEqualLayers(decoder, readLayers(config, "num_hidden_layers"), rope, window);
}

} // namespace trainc::importer
