// GPT-2 (Radford et al. 2019): layer norms, learned positions, weights of linear layers stored as [in, out].
#include "lib/Import/Family.h"
#include "lib/Import/Keys.h"

namespace trainc::importer {

Decoder readGpt2(Config &config) {
  Decoder decoder;
  decoder.vocabulary = config.size("vocab_size", 50257);
  decoder.width = config.size("n_embd", 768);
  decoder.maxPositions = config.size("n_positions", 1024);
  config.ignore({"n_ctx", "n_special", "predict_special_tokens"});
  decoder.initialRange = config.number("initializer_range", 0.02);
  decoder.norm = {Norm::Layer, config.number("layer_norm_epsilon", 1e-5)};
  decoder.isTied = config.flag("tie_word_embeddings", true);
  decoder.inOut = true;

  Attention &attention = decoder.attention = readHeads(config, "n_head", decoder.width, 12);
  attention.packing = Attention::Rows;
  attention.query = "attn.c_attn";
  attention.output = "attn.c_proj";
  attention.hasBias = attention.hasOutputBias = true;
  config.require("scale_attn_weights", true, "scores without a scale are not supported");
  config.require("scale_attn_by_inverse_layer_idx", false, "a scale for each layer is not supported");
  config.require("add_cross_attention", false, "cross attention is not supported");
  config.ignore({"reorder_and_upcast_attn"});

  decoder.mlp.width = config.sizeOr("n_inner", 4 * decoder.width);
  decoder.mlp.activation = activationOf(config, "activation_function", "gelu_new");
  decoder.mlp.up = "mlp.c_fc";
  decoder.mlp.down = "mlp.c_proj";
  decoder.mlp.hasBias = true;

  decoder.norms.attention = "ln_1";
  decoder.norms.mlp = "ln_2";
  decoder.embedding = "wte";
  decoder.layerScope = "h";
  decoder.finalNorm = "ln_f";
  decoder.head = "lm_head";
  decoder.positions = LearnedPositions{"wpe", decoder.maxPositions, 0};
  decoder.dropout = {config.dropout("embd_pdrop", 0.1), config.dropout("resid_pdrop", 0.1),
                     config.dropout("attn_pdrop", 0.1)};
  useEqualLayers(decoder, readLayers(config, "n_layer", 12), std::nullopt);
  return decoder;
}

} // namespace trainc::importer
