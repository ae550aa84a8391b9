// ViT (Dosovitskiy et al. 2020): patches of an image as positions, norms before attention and the MLP.
#include "lib/Import/Family.h"
#include "lib/Import/Keys.h"

#include <array>

namespace trainc::importer {

/// Reads a height and a width: a list of both, or one number for both.
static std::array<int64_t, 2> readSides(Config &config, const std::string &key, int64_t fallback) {
  if (!config.has(key) || !config.json()[key].is_array()) {
    const int64_t side = config.size(key, fallback);
    return {side, side};
  }
  const std::vector<int64_t> sides = config.wholes(key).value_or(std::vector<int64_t>());
  if (sides.size() == 2 && sides[0] > 0 && sides[1] > 0)
    return {sides[0], sides[1]};
  config.fail(fmt::format("'{}': expected a height and a width", key));
  return {1, 1};
}

static Images readImages(Config &config) {
  Images images;
  images.channels = config.size("num_channels", 3);
  const auto [height, width] = readSides(config, "image_size", 224);
  const auto [patchHeight, patchWidth] = readSides(config, "patch_size", 16);
  if (height % patchHeight != 0 || width % patchWidth != 0)
    config.fail(
        fmt::format("patches of {} x {} ('patch_size') do not divide images of {} x {} ('image_size')",
                    patchHeight, patchWidth, height, width));
  constexpr double kMaxNumbers = 1 << 24; // of an image
  if (double(images.channels) * double(height) * double(width) > kMaxNumbers) {
    config.fail(
        fmt::format("images of {} x {} x {} ('num_channels', 'image_size'): expected at most {} numbers",
                    images.channels, height, width, int64_t(kMaxNumbers)));
    return images;
  }
  images.height = height;
  images.width = width;
  images.patchHeight = patchHeight;
  images.patchWidth = patchWidth;
  images.patches = "vit.embeddings.patch_embeddings.projection";
  images.classToken = "vit.embeddings.cls_token";
  images.positions = "vit.embeddings.position_embeddings";
  return images;
}

Encoder readVit(Config &config, Task task) {
  Encoder encoder;
  encoder.width = config.size("hidden_size", 768);
  encoder.initialRange = config.number("initializer_range", 0.02);
  encoder.norm = {Norm::Layer, config.number("layer_norm_eps", 1e-12)};
  encoder.images = readImages(config);
  config.ignore({"encoder_stride", "pooler_*"}); // of other heads

  Attention &attention = encoder.attention = readHeads(config, "num_attention_heads", encoder.width, 12);
  attention.query = "attention.attention.query";
  attention.key = "attention.attention.key";
  attention.value = "attention.attention.value";
  attention.output = "attention.output.dense";
  attention.hasBias = config.flag("qkv_bias", true);
  attention.hasOutputBias = true;
  attention.isCausal = false;
  const double dropout = config.dropout("hidden_dropout_prob", 0);
  encoder.dropout = {.embedding = dropout,
                     .residual = dropout,
                     .attention = config.dropout("attention_probs_dropout_prob", 0)};

  encoder.mlp.width = config.size("intermediate_size", 3072);
  encoder.mlp.activation = activationOf(config, "hidden_act", "gelu");
  encoder.mlp.up = "intermediate.dense";
  encoder.mlp.down = "output.dense";
  encoder.mlp.hasBias = true;

  encoder.norms.attention = "layernorm_before";
  encoder.norms.mlp = "layernorm_after";
  encoder.finalNorm = "vit.layernorm";
  encoder.layerScope = "vit.encoder.layer";
  useEqualLayers(encoder, readLayers(config, "num_hidden_layers", 12), std::nullopt);
  readLabels(config, task, encoder.head);
  encoder.head.pooling = Head::First;
  encoder.head.output = "classifier";
  return encoder;
}

} // namespace trainc::importer
