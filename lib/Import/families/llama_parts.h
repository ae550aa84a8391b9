// Parts of decoders that are laid out as Llama (Touvron et al. 2023): pre-norms, rotary positions, heads that
// share keys and values, a gated MLP.
#pragma once

#include "lib/Import/Decoder.h"
#include "lib/Import/Keys.h"

namespace trainc::importer {

/// Class defaults in which these families differ.
struct LlamaDefaults {
  int64_t vocabulary = 32000, width = 4096, mlpWidth = 11008, layers = 32, heads = 32;
  int64_t keyHeads = 0;  ///< 0: as many as heads
  int64_t headWidth = 0; ///< 0: width / heads
  int64_t maxPositions = 2048;
  double epsilon = 1e-6, theta = 10000;
  std::optional<double> rotaryShare =
      std::nullopt; ///< of partial_rotary_factor; nothing if the class does not read it
  std::optional<int64_t> originalPositions =
      std::nullopt; ///< of original_max_position_embeddings; nothing if the class has no such key
  bool isTied = false;
  const char *activationKey = "hidden_act";
  const char *activation = "silu";
};

/// Reads the keys that all these families have. The caller gives the decoder its layers.
Decoder readLlamaParts(Config &config, const LlamaDefaults &defaults);

int64_t readLayerCount(Config &config, const LlamaDefaults &defaults);

/// Biases of attention's four linear layers, and of the MLP's.
void readBiases(Config &config, Decoder &decoder);

/// RMSNorms of the queries and keys, before their rotation.
void useHeadNorms(Decoder &decoder, Attention::HeadNorms norms);

/// The class's rotary positions, for the decoder's heads.
RopeDefaults ropeDefaults(const Decoder &decoder, const LlamaDefaults &defaults);

/// Equal layers with rotary positions.
void useRotaryLayers(Config &config, Decoder &decoder, const LlamaDefaults &defaults,
                     std::optional<int64_t> window = std::nullopt);

} // namespace trainc::importer
