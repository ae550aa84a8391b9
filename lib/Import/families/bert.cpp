// BERT (Devlin et al. 2018) and models of its form: norms after attention and the MLP, learned positions.
#include "lib/Import/Family.h"
#include "lib/Import/families/bert_parts.h"

#include <algorithm>

namespace trainc::importer {

/// Reads the keys that encoders of texts share. Parameters of the model without its head have the scope
/// `base`.
static Encoder readTextParts(Config &config, const std::string &base) {
  Encoder encoder = readBertParts(config, "attention.self");
  encoder.vocabulary = config.size("vocab_size");
  encoder.attention.hasSegments = true;
  config.require("is_decoder", false, "an encoder with a causal mask is not supported");
  config.require("add_cross_attention", false, "cross attention is not supported");
  config.require("position_embedding_type", "absolute", "relative positions are not supported");
  config.require("pruned_heads", nlohmann::json::object(), "layers with fewer heads are not supported");
  config.ignore({"directionality", "output_past"}); // the classes do not read them

  encoder.norms.attentionSum = "attention.output.LayerNorm";
  encoder.norms.mlpSum = "output.LayerNorm";
  encoder.embedding = base + ".embeddings.word_embeddings";
  encoder.types = TokenTypes{base + ".embeddings.token_type_embeddings", config.size("type_vocab_size")};
  encoder.embeddingNorm = base + ".embeddings.LayerNorm";
  encoder.layerScope = base + ".encoder.layer";
  return encoder;
}

/// Gives the encoder a table of positions whose first `first` rows are not used.
static void usePositions(Config &config, Encoder &encoder, const std::string &base, int64_t first) {
  const int64_t count = config.size("max_position_embeddings");
  if (count <= first)
    config.fail(fmt::format("'max_position_embeddings' is {}: expected more than {}, the row of position 0",
                            count, first));
  encoder.positions = LearnedPositions{base + ".embeddings.position_embeddings", count, first};
  encoder.maxPositions = std::max<int64_t>(count - first, 1);
}

/// Gives the encoder a head whose last layer is tied to the embedding.
static void useMaskedLmHead(Config &config, Encoder &encoder, const char *dense, const char *norm,
                            const char *output, const std::string &activation) {
  config.require("tie_word_embeddings", true, "an output layer with a weight of its own is not supported");
  Head &head = encoder.head;
  head.dense = dense;
  head.activation = activation;
  head.norm = norm;
  head.output = output;
  head.tied = encoder.embedding + ".weight";
  head.outputs = encoder.vocabulary;
}

/// Gives the encoder a linear layer as its head, for classes.
static void useClassifier(Config &config, Task task, Encoder &encoder, const char *output) {
  readLabels(config, task, encoder.head);
  encoder.head.output = output;
  encoder.head.dropout = config.dropout("classifier_dropout", encoder.dropout.residual);
  config.ignore({"tie_word_embeddings"}); // no layer has the embedding's weight
}

Encoder readBert(Config &config, Task task) {
  const std::string base = "bert";
  Encoder encoder = readTextParts(config, base);
  usePositions(config, encoder, base, 0);
  if (task == Task::MaskedLm) {
    useMaskedLmHead(config, encoder, "cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm",
                    "cls.predictions", encoder.mlp.activation);
    config.ignore({"classifier_dropout"});
    return encoder;
  }
  useClassifier(config, task, encoder, "classifier");
  if (task == Task::Classification) {
    Head &head = encoder.head;
    head.pooling = Head::First;
    head.dense = "bert.pooler.dense";
    head.activation = "nn.tanh %x";
  }
  return encoder;
}

Encoder readRoberta(Config &config, Task task) {
  const std::string base = "roberta";
  Encoder encoder = readTextParts(config, base);
  // The class counts positions from the row after that of padding.
  usePositions(config, encoder, base, config.size("pad_token_id", std::nullopt, 0) + 1);
  if (task == Task::MaskedLm) {
    useMaskedLmHead(config, encoder, "lm_head.dense", "lm_head.layer_norm", "lm_head", "nn.gelu %x");
    config.ignore({"classifier_dropout"});
    return encoder;
  }
  const bool isOfTexts = task == Task::Classification;
  useClassifier(config, task, encoder, isOfTexts ? "classifier.out_proj" : "classifier");
  if (isOfTexts) {
    Head &head = encoder.head;
    head.pooling = Head::First;
    head.dropoutBefore = head.dropout;
    head.dense = "classifier.dense";
    head.activation = "nn.tanh %x";
  }
  return encoder;
}

} // namespace trainc::importer
