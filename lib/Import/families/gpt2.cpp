// GPT-2 (Radford et al. 2019): layer norms, learned positions, weights of linear layers stored as [in, out].
#include "lib/Import/Family.h"
#include "lib/Import/Keys.h"

namespace trainc::importer {

Decoder readGpt2(Config &config) {
  Decoder decoder;
  decoder.vocabulary = config.size("vocab_size");
  decoder.width = config.size("n_embd");
  decoder.maxPositions = config.size("n_positions");
  config.ignore({"n_ctx", "n_special", "predict_special_tokens"});
  decoder.initialRange = config.number("initializer_range");
  decoder.norm = {Norm::Layer, config.number("layer_norm_epsilon")};
  decoder.isTied = config.flag("tie_word_embeddings");
  decoder.inOut = true;

  Attention &attention = decoder.attention = readHeads(config, "n_head", decoder.width);
  attention.packing = Attention::Rows;
  attention.query = "attn.c_attn";
  attention.output = "attn.c_proj";
  attention.hasBias = attention.hasOutputBias = true;
  config.require("scale_attn_weights", true, "scores without a scale are not supported");
  config.require("scale_attn_by_inverse_layer_idx", false, "a scale for each layer is not supported");
  config.require("add_cross_attention", false, "cross attention is not supported");
  config.ignore({"reorder_and_upcast_attn"});

  decoder.mlp.width = config.sizeOr("n_inner", 4 * decoder.width);
  decoder.mlp.activation = activationOf(config, "activation_function");
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
  decoder.dropout = {config.dropout("embd_pdrop"), config.dropout("resid_pdrop"),
                     config.dropout("attn_pdrop")};
  useEqualLayers(decoder, readLayers(config, "n_layer"), std::nullopt);
  return decoder;
}

} // namespace trainc::importer
