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
  EXPECT_EQ(configOf(GgufBuilder().text("general.architecture", "falcon").build()), "none");
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

} // namespace
} // namespace trainc
