// Gemma (Gemma Team 2024 and 2025): scaled embeddings, norms that multiply by 1 + weight, and since Gemma 2
// norms after attention and the MLP.
#include "lib/Import/Family.h"
#include "lib/Import/families/llama_parts.h"

#include <cmath>

namespace trainc::importer {

static Decoder readGemmaParts(Config &config, const char *activationKey) {
  Decoder decoder = readLlamaParts(config, {.activation = activationKey});
  decoder.norm.kind = Norm::RmsOffsetOne;
  decoder.embeddingScale = std::sqrt(double(decoder.width));
  readAttentionBias(config, decoder);
  config.require("use_bidirectional_attention", false, "attention that is not causal is not supported");
  return decoder;
}

Decoder readGemma(Config &config) {
  Decoder decoder = readGemmaParts(config, "hidden_act");
  // Files of the first release say "gelu" and mean the form by tanh, which `hidden_activation` then names.
  config.ignore({"hidden_activation"});
  if (decoder.mlp.activation == "nn.gelu %x")
    decoder.mlp.activation = "nn.gelu %x approximate tanh";
  useRotaryLayers(config, decoder);
  return decoder;
}

/// A soft cap; none if the key is null.
static std::optional<double> readSoftcap(Config &config, std::string_view key) {
  const std::optional<double> cap = config.numberIfAny(key);
  if (cap && *cap <= 0)
    config.fail(fmt::format("'{}': expected a number above 0 or null, found {}", key, *cap));
  return cap;
}

/// Reads the parts that Gemma 2 and 3 share.
static Decoder readGemma2Parts(Config &config) {
  Decoder decoder = readGemmaParts(config, "hidden_activation");
  config.ignore({"hidden_act", "sliding_window_size"}); // the classes read hidden_activation, sliding_window
  decoder.norms.attentionOut = "post_attention_layernorm";
  decoder.norms.mlp = "pre_feedforward_layernorm";
  decoder.norms.mlpOut = "post_feedforward_layernorm";
  const double scalar = config.number("query_pre_attn_scalar");
  if (scalar <= 0)
    config.fail(fmt::format("'query_pre_attn_scalar': expected a number above 0, found {}", scalar));
  decoder.attention.scale = 1 / std::sqrt(std::abs(scalar));
  decoder.logitsSoftcap = readSoftcap(config, "final_logit_softcapping");
  return decoder;
}

/// Layers with a window, but for each `period`th one.
static void useLayers(Config &config, Decoder &decoder, const Rope &full, const Rope &sliding,
                      int64_t period) {
  if (config.isNull("sliding_window"))
    config.fail("'sliding_window' is null: expected the window of the layers that have one");
  useSlidingLayers(config, decoder, full, sliding, [&](int64_t index) { return (index + 1) % period != 0; });
}

Decoder readGemma2(Config &config) {
  Decoder decoder = readGemma2Parts(config);
  decoder.attention.softcap = readSoftcap(config, "attn_logit_softcapping");
  const Rope rope = readRope(config, ropeKeys(decoder));
  useLayers(config, decoder, rope, rope, 2);
  return decoder;
}

Decoder readGemma3(Config &config) {
  Decoder decoder = readGemma2Parts(config);
  config.require("attn_logit_softcapping", nullptr, "transformers ignores it in this family");
  useHeadNorms(decoder, Attention::EachHead);
  RopeKeys keys = ropeKeys(decoder);
  const Rope full = readRopeOfLayers(config, "full_attention", keys);
  keys.theta = "rope_local_base_freq";
  keys.scaling.clear();
  const Rope sliding = readRopeOfLayers(config, "sliding_attention", keys);
  useLayers(config, decoder, full, sliding, config.size("sliding_window_pattern"));
  return decoder;
}

} // namespace trainc::importer
