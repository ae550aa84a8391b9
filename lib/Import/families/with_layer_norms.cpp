// Decoders with layer norms.
#include "lib/Import/Family.h"
#include "lib/Import/Keys.h"

#include <algorithm>
#include <cmath>

namespace trainc::importer {

Decoder readGptNeoX(Config &config) {
  Decoder decoder;
  decoder.vocabulary = config.size("vocab_size");
  decoder.width = config.size("hidden_size");
  decoder.initialRange = config.number("initializer_range");
  decoder.norm = {Norm::Layer, config.number("layer_norm_eps")};
  decoder.isTied = config.flag("tie_word_embeddings");
  decoder.isParallel = config.flag("use_parallel_residual");

  Attention &attention = decoder.attention = readHeads(config, "num_attention_heads", decoder.width);
  attention.packing = Attention::PerHead;
  attention.query = "attention.query_key_value";
  attention.output = "attention.dense";
  attention.hasBias = attention.hasOutputBias = config.flag("attention_bias");
  decoder.dropout.attention = config.dropout("attention_dropout");
  requireNoDropout(config, "hidden_dropout", "the embedding and of branches");
  config.ignore({"classifier_dropout", "attention_probs_dropout_prob",
                 "hidden_dropout_prob"}); // the class reads no other

  decoder.mlp.width = config.size("intermediate_size");
  decoder.mlp.activation = activationOf(config, "hidden_act");
  decoder.mlp.up = "mlp.dense_h_to_4h";
  decoder.mlp.down = "mlp.dense_4h_to_h";
  decoder.mlp.hasBias = true;

  decoder.norms.attention = "input_layernorm";
  decoder.norms.mlp = "post_attention_layernorm";
  decoder.embedding = "gpt_neox.embed_in";
  decoder.layerScope = "gpt_neox.layers";
  decoder.finalNorm = "gpt_neox.final_layer_norm";
  decoder.head = "embed_out";
  decoder.maxPositions = config.size("max_position_embeddings");
  const Rope rope = readRope(config, {.headWidth = attention.headWidth,
                                      .maxPositions = decoder.maxPositions,
                                      .theta = "rotary_emb_base",
                                      .share = "rotary_pct"});
  config.require("rope_theta", rope.theta, "the class reads 'rotary_emb_base'");
  useEqualLayers(decoder, readLayers(config, "num_hidden_layers"), rope);
  return decoder;
}

Decoder readOpt(Config &config) {
  constexpr int64_t kFirstPosition = 2; // the table has two rows more than positions
  Decoder decoder;
  decoder.vocabulary = config.size("vocab_size");
  decoder.width = config.size("hidden_size");
  decoder.maxPositions = config.size("max_position_embeddings");
  decoder.initialRange = config.number("init_std");
  decoder.norm = {Norm::Layer, 1e-5};
  decoder.isTied = config.flag("tie_word_embeddings");
  config.require("do_layer_norm_before", true, "norms after attention are not supported");
  config.require("word_embed_proj_dim", decoder.width, "a projection of the embeddings is not supported");
  config.require("layer_norm_elementwise_affine", true, "norms without weights are not supported");
  config.require("_remove_final_layer_norm", false, "a decoder without its last norm is not supported");

  Attention &attention = decoder.attention = readHeads(config, "num_attention_heads", decoder.width);
  attention.query = "self_attn.q_proj";
  attention.key = "self_attn.k_proj";
  attention.value = "self_attn.v_proj";
  attention.output = "self_attn.out_proj";
  attention.hasBias = attention.hasOutputBias = config.flag("enable_bias");
  decoder.dropout.attention = config.dropout("attention_dropout");
  requireNoDropout(config, "layerdrop", "whole layers");
  config.ignore({"activation_dropout", "prefix"}); // the class does not use them
  decoder.dropout.residual = config.dropout("dropout");

  decoder.mlp.width = config.size("ffn_dim");
  decoder.mlp.activation = activationOf(config, "activation_function");
  decoder.mlp.up = "fc1";
  decoder.mlp.down = "fc2";
  decoder.mlp.hasBias = attention.hasBias;

  decoder.norms.attention = "self_attn_layer_norm";
  decoder.norms.mlp = "final_layer_norm";
  decoder.embedding = "model.decoder.embed_tokens";
  decoder.layerScope = "model.decoder.layers";
  decoder.finalNorm = "model.decoder.final_layer_norm";
  decoder.head = "lm_head";
  decoder.positions = LearnedPositions{"model.decoder.embed_positions", decoder.maxPositions + kFirstPosition,
                                       kFirstPosition};
  useEqualLayers(decoder, readLayers(config, "num_hidden_layers"), std::nullopt);
  return decoder;
}

/// Reads a flag of Falcon's class, for which null means false.
static bool readFlag(Config &config, std::string_view key) {
  if (!config.isNull(key))
    return config.flag(key);
  config.ignore({key});
  return false;
}

/// Heads and norms of Falcon 7B (one head of keys), RW (as many as queries) and 40B (groups).
static void readFalconHeads(Config &config, Decoder &decoder) {
  Attention &attention = decoder.attention = readHeads(config, "num_attention_heads", decoder.width);
  attention.packing = Attention::PerHead;
  if (config.flag("new_decoder_architecture")) {
    attention.keyHeads = config.sizeOr("num_kv_heads", attention.heads);
    checkHeads(config, attention);
    decoder.isParallel = true;
    config.ignore({"multi_query"});
    config.require("parallel_attn", true, "sequential branches of the new architecture are not supported");
    if (config.sizeOr("num_ln_in_parallel_attn", 2) == 2) {
      decoder.norms.attention = "ln_attn";
      decoder.norms.mlp = "ln_mlp";
    } else {
      config.require("num_ln_in_parallel_attn", 1, "layers have one norm or two");
      decoder.norms.attention = "input_layernorm";
    }
    return;
  }
  if (readFlag(config, "multi_query"))
    attention.keyHeads = 1;
  config.ignore({"num_kv_heads"}); // of the new architecture
  config.require("num_ln_in_parallel_attn", 1, "several norms are of the new architecture only");
  decoder.isParallel = readFlag(config, "parallel_attn");
  decoder.norms.attention = "input_layernorm";
  if (!decoder.isParallel)
    decoder.norms.mlp = "post_attention_layernorm";
}

Decoder readFalcon(Config &config) {
  Decoder decoder;
  decoder.vocabulary = config.size("vocab_size");
  decoder.width = config.size("hidden_size");
  decoder.initialRange = config.number("initializer_range");
  decoder.norm = {Norm::Layer, config.number("layer_norm_epsilon")};
  decoder.isTied = config.flag("tie_word_embeddings");
  readFalconHeads(config, decoder);
  Attention &attention = decoder.attention;
  const bool hasAlibi = config.flag("alibi");
  if (hasAlibi) // the biases are scaled, as scores are
    attention.alibi = 1 / std::sqrt(double(attention.headWidth));
  attention.query = "self_attention.query_key_value";
  attention.output = "self_attention.dense";
  attention.hasBias = attention.hasOutputBias = config.flag("bias");
  // In transformers, this key is the dropout of attention's weights with ALiBi alone, and else that of its
  // branch, if branches are not parallel.
  requireNoDropout(config, "attention_dropout", "attention's weights or of its branch");
  requireNoDropout(config, "hidden_dropout", "the sum of both branches");
  config.require("apply_residual_connection_post_layernorm", false,
                 "the residual stream of norms is not supported");

  decoder.mlp.width = config.sizeOr("ffn_hidden_size", 4 * decoder.width);
  decoder.mlp.activation = activationOf(config, "activation");
  decoder.mlp.up = "mlp.dense_h_to_4h";
  decoder.mlp.down = "mlp.dense_4h_to_h";
  decoder.mlp.hasBias = attention.hasBias;

  decoder.embedding = "transformer.word_embeddings";
  decoder.layerScope = "transformer.h";
  decoder.finalNorm = "transformer.ln_f";
  decoder.head = "lm_head";
  decoder.maxPositions = config.size("max_position_embeddings");
  std::optional<Rope> rope;
  if (hasAlibi)
    config.ignore({"rope_theta", "rope_scaling", "rope_parameters"});
  else
    rope = readRope(config, {.headWidth = attention.headWidth, .maxPositions = decoder.maxPositions});
  useEqualLayers(decoder, readLayers(config, "num_hidden_layers"), rope);
  return decoder;
}

Decoder readBloom(Config &config) {
  Decoder decoder;
  decoder.vocabulary = config.size("vocab_size");
  decoder.width = config.size(config.has("n_embed") ? "n_embed" : "hidden_size", 64);
  if (config.has("n_embed"))
    config.ignore({"hidden_size"}); // n_embed is the older name, and counts
  config.ignore({"seq_length", "n_inner"});
  decoder.maxPositions = 2048; // any number; ALiBi has no table
  decoder.initialRange = config.number("initializer_range");
  decoder.norm = {Norm::Layer, config.number("layer_norm_epsilon")};
  decoder.isTied = config.flag("tie_word_embeddings");
  // transformers then leaves out the biases of two layers (BloomAttention, BloomMLP).
  if (config.size("pretraining_tp") > 1)
    config.require("slow_but_exact", false, "sums in pieces, without biases, are not supported");
  else
    config.ignore({"slow_but_exact"});

  const char *heads =
      config.has("num_attention_heads") && !config.has("n_head") ? "num_attention_heads" : "n_head";
  Attention &attention = decoder.attention = readHeads(config, heads, decoder.width);
  attention.packing = Attention::PerHead;
  attention.query = "self_attention.query_key_value";
  attention.output = "self_attention.dense";
  attention.hasBias = attention.hasOutputBias = true;
  attention.alibi = 1;
  decoder.dropout.attention = config.dropout("attention_dropout");
  decoder.dropout.residual = config.dropout("hidden_dropout");

  decoder.mlp.width = 4 * decoder.width;
  decoder.mlp.activation = "nn.gelu %x approximate tanh";
  decoder.mlp.up = "mlp.dense_h_to_4h";
  decoder.mlp.down = "mlp.dense_4h_to_h";
  decoder.mlp.hasBias = true;

  decoder.norms.attention = "input_layernorm";
  decoder.norms.mlp = "post_attention_layernorm";
  decoder.continuesFromNorms = config.flag("apply_residual_connection_post_layernorm");
  decoder.embedding = "transformer.word_embeddings";
  decoder.embeddingNorm = "transformer.word_embeddings_layernorm";
  decoder.layerScope = "transformer.h";
  decoder.finalNorm = "transformer.ln_f";
  decoder.head = "lm_head";
  const char *layers =
      config.has("num_hidden_layers") && !config.has("n_layer") ? "num_hidden_layers" : "n_layer";
  useEqualLayers(decoder, readLayers(config, layers), std::nullopt);
  return decoder;
}

} // namespace trainc::importer
