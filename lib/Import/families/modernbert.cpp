// ModernBERT (Warner et al. 2024): norms before attention and the MLP, rotary positions, windows in most
// layers.
#include "lib/Import/Family.h"
#include "lib/Import/Keys.h"

namespace trainc::importer {

/// Gives the encoder its layers: those of the whole text and those of a window, each with rotary positions of
/// its own. The first layer has no norm before attention, because the embeddings have one.
static void useModernBertLayers(Config &config, Encoder &encoder) {
  const int64_t headWidth = encoder.attention.headWidth;
  if (config.has("rope_theta"))
    config.fail(
        "'rope_theta': the class reads 'global_rope_theta' and 'local_rope_theta', or 'rope_parameters' of "
        "each kind of layer; remove the key");
  const auto ropeOf = [&](const char *type, const char *thetaKey) {
    return readRopeOfLayers(
        config, type, {.headWidth = headWidth, .maxPositions = encoder.maxPositions, .theta = thetaKey});
  };
  const int64_t window = config.size("local_attention") / 2 + 1; // on each side, with the query itself
  const LayerKind full = {"full", ropeOf("full_attention", "global_rope_theta"), std::nullopt};
  const LayerKind sliding = {"sliding", ropeOf("sliding_attention", "local_rope_theta"), window};
  const int64_t count = readLayers(config, "num_hidden_layers");
  const int64_t period = config.has("layer_types") ? 1 : config.size("global_attn_every_n_layers");
  config.ignore({"global_attn_every_n_layers"}); // the list counts
  const std::vector<bool> slides =
      readSlidingLayers(config, count, [&](int64_t index) { return index % period != 0; });
  useLayersOfTwoKinds(encoder, count, full, sliding, [&](int64_t index) { return slides[size_t(index)]; });
  LayerKind first = encoder.kinds[encoder.layers.front()];
  first.name = "first";
  first.hasAttentionNorm = false;
  encoder.layers.front() = encoder.kinds.size();
  encoder.kinds.push_back(std::move(first));
}

static Head readModernBertHead(Config &config, const Encoder &encoder, Task task) {
  Head head;
  head.dense = "head.dense";
  head.hasDenseBias = config.flag("classifier_bias");
  head.activation = activationOf(config, "classifier_activation");
  head.norm = "head.norm";
  if (task == Task::MaskedLm) {
    head.output = "decoder";
    head.outputs = encoder.vocabulary;
    head.hasBias = config.flag("decoder_bias");
    if (config.flag("tie_word_embeddings"))
      head.tied = encoder.embedding + ".weight";
    config.ignore({"classifier_dropout", "classifier_pooling"});
    return head;
  }
  readLabels(config, task, head);
  head.output = "classifier";
  head.dropout = config.dropout("classifier_dropout");
  config.ignore({"decoder_bias", "tie_word_embeddings"});
  if (task == Task::TokenClassification) {
    config.ignore({"classifier_pooling"});
    return head;
  }
  const std::string pooling = config.word("classifier_pooling");
  if (pooling != "cls" && pooling != "mean")
    config.fail(fmt::format("'classifier_pooling': expected cls or mean, found {}", printable(pooling)));
  head.pooling = pooling == "mean" ? Head::Mean : Head::First;
  return head;
}

Encoder readModernBert(Config &config, Task task) {
  Encoder encoder;
  encoder.vocabulary = config.size("vocab_size");
  encoder.width = config.size("hidden_size");
  encoder.maxPositions = config.size("max_position_embeddings");
  encoder.initialRange = config.number("initializer_range");
  encoder.norm = {Norm::Layer, config.number("norm_eps"), config.flag("norm_bias")};
  // Initial values, ways to compute the same, and keys of BERT that the class does not read.
  config.ignore({"initializer_cutoff_factor", "sparse_*", "deterministic_flash_attn", "reference_compile",
                 "repad_logits_with_grad", "layer_norm_eps", "position_embedding_type"});
  config.require("is_decoder", false, "an encoder with a causal mask is not supported");

  Attention &attention = encoder.attention = readHeads(config, "num_attention_heads", encoder.width);
  attention.packing = Attention::Rows;
  attention.query = "attn.Wqkv";
  attention.output = "attn.Wo";
  attention.hasBias = attention.hasOutputBias = config.flag("attention_bias");
  attention.isCausal = false;
  attention.hasSegments = true;
  requireNoDropout(config, "mlp_dropout", "the MLP's inner states");
  encoder.dropout.embedding = config.dropout("embedding_dropout");
  requireNoDropout(config, "attention_dropout", "attention's weights and of its branch");

  encoder.mlp.width = config.size("intermediate_size");
  encoder.mlp.activation = activationOf(config, "hidden_activation");
  encoder.mlp.up = "mlp.Wi";
  encoder.mlp.down = "mlp.Wo";
  encoder.mlp.packsGate = true;
  encoder.mlp.hasBias = config.flag("mlp_bias");

  encoder.norms.attention = "attn_norm";
  encoder.norms.mlp = "mlp_norm";
  encoder.embedding = "model.embeddings.tok_embeddings";
  encoder.embeddingNorm = "model.embeddings.norm";
  encoder.finalNorm = "model.final_norm";
  encoder.layerScope = "model.layers";
  useModernBertLayers(config, encoder);
  encoder.head = readModernBertHead(config, encoder, task);
  return encoder;
}

} // namespace trainc::importer
