// ViT (Dosovitskiy et al. 2020): patches of an image as positions, norms before attention and the MLP.
#include "lib/Import/Family.h"
#include "lib/Import/families/bert_parts.h"

#include <array>

namespace trainc::importer {

/// Reads a height and a width: a list of both, or one number for both.
static std::array<int64_t, 2> readSides(Config &config, const std::string &key) {
  if (!config.has(key) || !config.json()[key].is_array()) {
    const int64_t side = config.size(key);
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
  images.channels = config.size("num_channels");
  const auto [height, width] = readSides(config, "image_size");
  const auto [patchHeight, patchWidth] = readSides(config, "patch_size");
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
  Encoder encoder = readBertParts(config, "attention.attention");
  encoder.attention.hasBias = config.flag("qkv_bias");
  encoder.images = readImages(config);
  config.ignore({"encoder_stride"}); // of another head
  encoder.norms.attention = "layernorm_before";
  encoder.norms.mlp = "layernorm_after";
  encoder.finalNorm = "vit.layernorm";
  encoder.layerScope = "vit.encoder.layer";
  readLabels(config, task, encoder.head);
  encoder.head.pooling = Head::First;
  encoder.head.output = "classifier";
  return encoder;
}

} // namespace trainc::importer
