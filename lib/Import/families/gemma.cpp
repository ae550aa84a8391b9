// Gemma (Gemma Team 2024 and 2025): scaled embeddings, norms that multiply by 1 + weight, and since Gemma 2
// norms after attention and the MLP.
#include "lib/Import/Family.h"
#include "lib/Import/families/llama_parts.h"

#include <cmath>

namespace trainc::importer {

static Decoder readGemmaParts(Config &config, const LlamaDefaults &defaults) {
  Decoder decoder = readLlamaParts(config, defaults);
  decoder.norm.kind = Norm::RmsOffsetOne;
  decoder.embeddingScale = std::sqrt(double(decoder.width));
  decoder.attention.hasBias = decoder.attention.hasOutputBias = config.flag("attention_bias", false);
  config.require("use_bidirectional_attention", false, "attention that is not causal is not supported");
  return decoder;
}

Decoder readGemma(Config &config) {
  const LlamaDefaults defaults{.vocabulary = 256000,
                               .width = 3072,
                               .mlpWidth = 24576,
                               .layers = 28,
                               .heads = 16,
                               .keyHeads = 16,
                               .headWidth = 256,
                               .maxPositions = 8192,
                               .isTied = true,
                               .activation = "gelu_pytorch_tanh"};
  Decoder decoder = readGemmaParts(config, defaults);
  // Files of the first release say "gelu" and mean the form by tanh, which `hidden_activation` then names.
  config.ignore({"hidden_activation"});
  if (decoder.mlp.activation == "nn.gelu %x")
    decoder.mlp.activation = "nn.gelu %x approximate tanh";
  useRotaryLayers(config, decoder, defaults);
  return decoder;
}

/// Reads the parts that Gemma 2 and 3 share.
static Decoder readGemma2Parts(Config &config, const LlamaDefaults &defaults) {
  Decoder decoder = readGemmaParts(config, defaults);
  decoder.norms.attentionOut = "post_attention_layernorm";
  decoder.norms.mlp = "pre_feedforward_layernorm";
  decoder.norms.mlpOut = "post_feedforward_layernorm";
  const double scalar = config.number("query_pre_attn_scalar", 256);
  if (scalar <= 0)
    config.fail(fmt::format("'query_pre_attn_scalar': expected a number above 0, found {}", scalar));
  decoder.attention.scale = 1 / std::sqrt(std::abs(scalar));
  return decoder;
}

/// A soft cap; none if the key is null. `usual` is the class's default, 0 for none.
static std::optional<double> readSoftcap(Config &config, std::string_view key, double usual) {
  if (!config.has(key) && (usual == 0 || config.isNull(key)))
    return std::nullopt;
  const double cap = config.number(key, usual);
  if (cap <= 0)
    config.fail(fmt::format("'{}': expected a number above 0 or null, found {}", key, cap));
  return cap;
}

static void useSlidingLayers(Config &config, Decoder &decoder, int64_t count, int64_t pattern,
                             const Rope &full, const Rope &sliding) {
  if (config.isNull("sliding_window"))
    config.fail("'sliding_window' is null: expected the window of the layers that have one");
  const int64_t window = config.size("sliding_window", 4096);
  const std::vector<bool> slides =
      readSlidingLayers(config, count, [&](int64_t index) { return (index + 1) % pattern != 0; });
  useLayersOfTwoKinds(decoder, count, {"layer", full, std::nullopt}, {"sliding_layer", sliding, window},
                      [&](int64_t index) { return slides[size_t(index)]; });
}

Decoder readGemma2(Config &config) {
  const LlamaDefaults defaults{.vocabulary = 256000,
                               .width = 2304,
                               .mlpWidth = 9216,
                               .layers = 26,
                               .heads = 8,
                               .keyHeads = 4,
                               .headWidth = 256,
                               .maxPositions = 8192,
                               .isTied = true,
                               .activationKey = "hidden_activation",
                               .activation = "gelu_pytorch_tanh"};
  Decoder decoder = readGemma2Parts(config, defaults);
  config.ignore({"hidden_act", "sliding_window_size"}); // the class reads hidden_activation, sliding_window
  decoder.attention.softcap = readSoftcap(config, "attn_logit_softcapping", 50);
  decoder.logitsSoftcap = readSoftcap(config, "final_logit_softcapping", 30);
  const Rope rope = readRope(config, ropeDefaults(decoder, defaults));
  useSlidingLayers(config, decoder, readLayerCount(config, defaults), 2, rope, rope);
  return decoder;
}

Decoder readGemma3(Config &config) {
  const LlamaDefaults defaults{.vocabulary = 262208,
                               .width = 2304,
                               .mlpWidth = 9216,
                               .layers = 26,
                               .heads = 8,
                               .keyHeads = 4,
                               .headWidth = 256,
                               .maxPositions = 131072,
                               .theta = 1e6,
                               .isTied = true,
                               .activationKey = "hidden_activation",
                               .activation = "gelu_pytorch_tanh"};
  constexpr double kLocalTheta = 10000;
  Decoder decoder = readGemma2Parts(config, defaults);
  useHeadNorms(decoder, Attention::EachHead);
  config.require("attn_logit_softcapping", nullptr, "transformers ignores it in this family");
  decoder.logitsSoftcap = readSoftcap(config, "final_logit_softcapping", 0);
  const int64_t pattern = config.size("sliding_window_pattern", 6);
  config.ignore({"_sliding_window_pattern"});
  const RopeDefaults rope = ropeDefaults(decoder, defaults);
  const Rope full = readRopeOfLayers(config, "full_attention", rope);
  Rope sliding;
  if (config.has("rope_parameters.sliding_attention")) {
    RopeDefaults local = rope;
    local.theta = kLocalTheta;
    sliding = readRopeOfLayers(config, "sliding_attention", local);
  } else {
    sliding.theta = config.number("rope_local_base_freq", kLocalTheta);
  }
  useSlidingLayers(config, decoder, readLayerCount(config, defaults), pattern, full, sliding);
  return decoder;
}

} // namespace trainc::importer
