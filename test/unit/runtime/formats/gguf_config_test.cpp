#include "runtime/formats/gguf_config.h"

#include "runtime/state/model_config.h"
#include "test/unit/runtime/formats/gguf_builder.h"

#include <nlohmann/json.hpp>

namespace trainc {
namespace {

using namespace test;
using Json = nlohmann::json;

/// A Llama as SmolLM2.
std::string llama() {
  return GgufBuilder()
      .text("general.architecture", "llama")
      .u32("llama.embedding_length", 576)
      .u32("llama.attention.head_count", 9)
      .u32("llama.attention.head_count_kv", 3)
      .number("llama.rope.freq_base", GgufValueType::kFloat32, 1e5F)
      .number("llama.attention.layer_norm_rms_epsilon", GgufValueType::kFloat32, 1e-5F)
      .strings("tokenizer.ggml.tokens", {"a", "b"})
      .build();
}

std::string configOf(const std::string &content) {
  const auto file = parseGguf(content);
  EXPECT_TRUE(file.ok());
  return configJsonOf(*file)->value_or("none");
}

TEST(GgufConfig, HasHuggingFacesKeys) {
  EXPECT_EQ(Json::parse(configOf(llama())), Json({{"model_type", "llama"},
                                                  {"hidden_size", 576},
                                                  {"num_attention_heads", 9},
                                                  {"num_key_value_heads", 3},
                                                  {"rope_theta", 1e5},
                                                  {"rms_norm_eps", 1e-5},
                                                  {"vocab_size", 2},
                                                  {"tie_word_embeddings", true}}));
  EXPECT_EQ(Json::parse(configOf(GgufBuilder()
                                     .text("general.architecture", "gpt2")
                                     .u32("gpt2.attention.head_count", 12)
                                     .text("gpt2.block_count", "12")
                                     .build())),
            Json({{"model_type", "gpt2"}, {"n_head", 12}}));
  EXPECT_EQ(configOf(GgufBuilder().text("general.architecture", "bert").build()), "none");
}

/// A Llama with heads of 4 numbers, whose second frequency is that of a long wave.
GgufBuilder llamaWithFrequencies(std::initializer_list<float> factors) {
  return GgufBuilder()
      .text("general.architecture", "llama")
      .u32("llama.embedding_length", 8)
      .u32("llama.attention.head_count", 2)
      .number("llama.rope.freq_base", GgufValueType::kFloat32, 1e10F)
      .floats("rope_freqs.weight", {2}, factors);
}

TEST(GgufConfig, TheRuleOfFrequenciesIsFound) {
  const std::string content = llamaWithFrequencies({1, 32}).build();
  EXPECT_EQ(Json::parse(configOf(content))["rope_scaling"],
            Json({{"rope_type", "llama3"},
                  {"factor", 32.0},
                  {"low_freq_factor", 1.0},
                  {"high_freq_factor", 4.0},
                  {"original_max_position_embeddings", 8192}}));
  EXPECT_EQ(requireWholeConfig(*parseGguf(content)).message(), "");
  const std::string other = llamaWithFrequencies({1.5, 32}).build();
  EXPECT_FALSE(Json::parse(configOf(other)).contains("rope_scaling"));
  EXPECT_THAT(requireWholeConfig(*parseGguf(other)).message(),
              testing::HasSubstr("the tensor rope_freqs.weight scales rotary frequencies, and the file does "
                                 "not say by which rule"));
}

TEST(GgufConfig, FactorsForShortAndLongTextsAreRead) {
  const auto phi = [] {
    return GgufBuilder()
        .text("general.architecture", "phi3")
        .u32("phi3.embedding_length", 8)
        .u32("phi3.attention.head_count", 2)
        .u32("phi3.rope.scaling.original_context_length", 2048)
        .floats("rope_factors_long.weight", {2}, {1, 4})
        .floats("rope_factors_short.weight", {2}, {1, 1.25});
  };
  const std::string content =
      phi().number("phi3.rope.scaling.attn_factor", GgufValueType::kFloat32, 1.19F).build();
  const Json config = Json::parse(configOf(content));
  EXPECT_EQ(config["rope_scaling"], Json({{"type", "longrope"},
                                          {"attention_factor", 1.19},
                                          {"short_factor", {1.0, 1.25}},
                                          {"long_factor", {1.0, 4.0}}}));
  EXPECT_EQ(config["original_max_position_embeddings"], 2048);
  EXPECT_EQ(requireWholeConfig(*parseGguf(content)).message(), "");
  EXPECT_THAT(requireWholeConfig(*parseGguf(phi().build())).message(),
              testing::HasSubstr("the tensor rope_factors_long.weight scales rotary frequencies"));
}

TEST(GgufConfig, HeadsWithoutEntriesAreThoseOfLlamaCpp) {
  const auto config = Json::parse(configOf(GgufBuilder()
                                               .text("general.architecture", "gemma2")
                                               .u32("gemma2.embedding_length", 64)
                                               .u32("gemma2.attention.head_count", 8)
                                               .build()));
  EXPECT_EQ(config["num_key_value_heads"], 8) << "the class has 4";
  EXPECT_EQ(config["head_dim"], 8) << "the class has 256";
}

TEST(GgufConfig, FalconHasOneNormOrTwo) {
  const auto falcon = [](uint32_t keyHeads) {
    return GgufBuilder()
        .text("general.architecture", "falcon")
        .text("falcon.tensor_data_layout", "jploski")
        .u32("falcon.attention.head_count", 4)
        .u32("falcon.attention.head_count_kv", keyHeads);
  };
  const auto of = [](const std::string &content) {
    EXPECT_EQ(requireWholeConfig(*parseGguf(content)).message(), "");
    const Json config = Json::parse(configOf(content));
    return std::pair(config.value("new_decoder_architecture", Json()),
                     config.value("num_ln_in_parallel_attn", Json()));
  };
  EXPECT_EQ(of(falcon(1).build()), std::pair(Json(), Json()));
  EXPECT_EQ(of(falcon(2).build()), std::pair(Json(true), Json(1)));
  EXPECT_EQ(of(falcon(2).floats("blk.0.attn_norm_2.weight", {1}, {1}).build()),
            std::pair(Json(true), Json()));
  // Without an entry, there are as many key heads as heads.
  const std::string noKeyHeads =
      GgufBuilder().text("general.architecture", "falcon").u32("falcon.attention.head_count", 4).build();
  EXPECT_EQ(of(noKeyHeads), std::pair(Json(true), Json(1)));
  EXPECT_EQ(Json::parse(configOf(noKeyHeads))["num_kv_heads"], 4);
}

TEST(GgufConfig, KeysOfBloom) {
  const std::string content =
      GgufBuilder()
          .text("general.architecture", "bloom")
          .u32("bloom.context_length", 2048)
          .u32("bloom.embedding_length", 64)
          .u32("bloom.feed_forward_length", 256)
          .u32("bloom.block_count", 3)
          .u32("bloom.attention.head_count", 8)
          .u32("bloom.attention.head_count_kv", 8)
          .number("bloom.attention.layer_norm_epsilon", GgufValueType::kFloat32, 1e-5F)
          .build();
  EXPECT_EQ(Json::parse(configOf(content)), Json({{"model_type", "bloom"},
                                                  {"seq_length", 2048},
                                                  {"hidden_size", 64},
                                                  {"n_inner", 256},
                                                  {"n_layer", 3},
                                                  {"n_head", 8},
                                                  {"layer_norm_epsilon", 1e-5},
                                                  {"tie_word_embeddings", true}}));
  EXPECT_EQ(requireWholeConfig(*parseGguf(content)).message(), "");
}

TEST(GgufConfig, IsComparedWithThePlans) {
  const auto compared = [](std::string_view own) {
    return compareGgufConfig(own, "m.gguf", configOf(llama()));
  };
  constexpr std::string_view kOwn = R"({"model_type": "mistral", "hidden_size": 576, "num_attention_heads": 9,
    "num_key_value_heads": 3, "rope_theta": 100000.0, "rms_norm_eps": 1e-5, "hidden_act": "silu",
    "rope_scaling": {"rope_type": "llama3", "factor": 8.0}, "tie_word_embeddings": true})";
  const auto same = compared(kOwn);
  ASSERT_OK(same);
  EXPECT_EQ(same->note + same->warning, "");
  const auto other = compared(
      R"({"model_type": "llama", "hidden_size": 576, "num_attention_heads": 3, "rope_theta": 10000.0, "rms_norm_eps": 1e-5})");
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.status().message(), testing::HasSubstr("m.gguf: the weights are of a model"));
  EXPECT_THAT(other.status().message(),
              testing::HasSubstr("num_attention_heads: 9 in this file, 3 in the plan"));
  EXPECT_THAT(other.status().message(),
              testing::HasSubstr("rope_theta: 100000.0 in this file, 10000.0 in the plan"));
  const auto none = compared("");
  ASSERT_OK(none);
  EXPECT_THAT(none->note, testing::HasSubstr("m.gguf is not compared, because the plan has no config.json"));
}

TEST(GgufConfig, RotaryBaseOfLayersWithoutAWindowIsCompared) {
  const std::string metadata = configOf(GgufBuilder()
                                            .text("general.architecture", "gemma3")
                                            .u32("gemma3.block_count", 2)
                                            .number("gemma3.rope.freq_base", GgufValueType::kFloat32, 5e3F)
                                            .build());
  const auto compared = [&](double theta) {
    const Json own = {{"model_type", "gemma3_text"},
                      {"num_hidden_layers", 2},
                      {"layer_types", {"sliding_attention", "sliding_attention"}},
                      {"rope_parameters",
                       {{"full_attention", {{"rope_type", "default"}, {"rope_theta", theta}}},
                        {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 10000.0}}}}}};
    return compareGgufConfig(own.dump(), "m.gguf", metadata).status().message();
  };
  EXPECT_EQ(compared(5000), "");
  EXPECT_THAT(compared(1e6), testing::HasSubstr("rope_theta: 5000.0 in this file, 1000000.0 in the plan"));
}

/// The number of Falcon's key heads follows from flags: transformers writes as many as heads beside
/// `multi_query`.
TEST(GgufConfig, FalconsKeyHeadsAreCompared) {
  const auto compared = [](const Json &flags, const Json &metadata) {
    Json own = {{"model_type", "falcon"}, {"num_attention_heads", 4}, {"num_kv_heads", 4}};
    own.update(flags);
    return compareGgufConfig(own.dump(), "m.gguf", metadata.dump()).status().message();
  };
  const Json one = {{"num_attention_heads", 4}, {"num_kv_heads", 1}};
  const Json groups = {{"num_attention_heads", 4},
                       {"num_kv_heads", 4},
                       {"new_decoder_architecture", true},
                       {"num_ln_in_parallel_attn", 1}};
  EXPECT_EQ(compared({{"multi_query", true}}, one), "");
  EXPECT_EQ(compared({{"multi_query", false}}, groups), "");
  EXPECT_EQ(compared({{"new_decoder_architecture", true}, {"num_ln_in_parallel_attn", 1}}, groups), "");
  EXPECT_THAT(compared({{"multi_query", false}}, one),
              testing::HasSubstr("num_kv_heads: 1 in this file, 4 in the plan"));
}

} // namespace
} // namespace trainc
