// Parts of decoders that are laid out as Llama (Touvron et al. 2023): pre-norms, rotary positions, heads that
// share keys and values, a gated MLP.
#pragma once

#include "lib/Import/Decoder.h"
#include "lib/Import/Keys.h"

namespace trainc::importer {

/// Keys and norms in which these families differ.
struct LlamaForm {
  const char *activation = "hidden_act";
  Norm::Kind norm = Norm::Rms;
  const char *epsilon = "rms_norm_eps";
};

/// Reads the keys that all these families have. The caller gives the decoder its layers.
Decoder readLlamaParts(Config &config, const LlamaForm &form = {});

/// Biases of attention's four linear layers.
void readAttentionBias(Config &config, Decoder &decoder);

/// Biases of attention's four linear layers, and of the MLP's.
void readBiases(Config &config, Decoder &decoder);

/// RMSNorms of the queries and keys, before their rotation.
void useHeadNorms(Decoder &decoder, Attention::HeadNorms norms);

/// The usual keys of rotary positions, for the decoder's heads.
RopeKeys ropeKeys(const Decoder &decoder);

/// Equal layers with rotary positions.
void useRotaryLayers(Config &config, Decoder &decoder, std::optional<int64_t> window = std::nullopt);

/// Layers without and with a window. Without `layer_types`, `usual(i)` says whether layer `i` has one.
template <typename Usual>
void useSlidingLayers(Config &config, Decoder &decoder, const Rope &full, const Rope &sliding, Usual usual) {
  const std::optional<int64_t> window = config.sizeIfAny("sliding_window");
  const int64_t count = readLayers(config, "num_hidden_layers");
  const std::vector<bool> slides = readSlidingLayers(config, count, usual);
  useLayersOfTwoKinds(decoder, count, {"layer", full, std::nullopt}, {"sliding_layer", sliding, window},
                      [&](int64_t index) { return slides[size_t(index)]; });
}

} // namespace trainc::importer
