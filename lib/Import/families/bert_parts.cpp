#include "lib/Import/families/bert_parts.h"

namespace trainc::importer {

Encoder readBertParts(Config &config, const std::string &scope) {
  Encoder encoder;
  encoder.width = config.size("hidden_size");
  encoder.initialRange = config.number("initializer_range");
  encoder.norm = {Norm::Layer, config.number("layer_norm_eps")};
  config.ignore({"pooler_*"}); // the classes do not read them

  Attention &attention = encoder.attention = readHeads(config, "num_attention_heads", encoder.width);
  attention.query = scope + ".query";
  attention.key = scope + ".key";
  attention.value = scope + ".value";
  attention.output = "attention.output.dense";
  attention.hasBias = attention.hasOutputBias = true;
  attention.isCausal = false;
  const double dropout = config.dropout("hidden_dropout_prob");
  encoder.dropout = {
      .embedding = dropout, .residual = dropout, .attention = config.dropout("attention_probs_dropout_prob")};

  encoder.mlp.width = config.size("intermediate_size");
  encoder.mlp.activation = activationOf(config, "hidden_act");
  encoder.mlp.up = "intermediate.dense";
  encoder.mlp.down = "output.dense";
  encoder.mlp.hasBias = true;
  useEqualLayers(encoder, readLayers(config, "num_hidden_layers"), std::nullopt);
  return encoder;
}

} // namespace trainc::importer
