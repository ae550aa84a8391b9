#include "base/config_defaults.h"
#include "base/text_config.h"

#include <gtest/gtest.h>

namespace trainc {
namespace {

using Json = nlohmann::json;

TEST(ConfigDefaults, AClassHasThoseOfTheClassThatItIsLike) {
  const Json qwen = classDefaults("qwen3");
  EXPECT_EQ(qwen["head_dim"], 128);         // its own
  EXPECT_EQ(qwen["vocab_size"], 151936);    // Qwen2's
  EXPECT_EQ(qwen["num_hidden_layers"], 32); // Llama's
  EXPECT_EQ(classDefaults("toy"), Json::object());
}

TEST(ConfigDefaults, FillsWhatIsMissing) {
  const Json filled = withClassDefaults({{"hidden_size", 64}, {"sliding_window", nullptr}}, "mistral");
  EXPECT_EQ(filled["hidden_size"], 64);
  EXPECT_EQ(filled["rms_norm_eps"], 1e-6);
  EXPECT_TRUE(filled["sliding_window"].is_null()); // none
  EXPECT_EQ(withClassDefaults(Json::object(), "mistral")["sliding_window"], 4096);
  EXPECT_TRUE(withClassDefaults(Json::object(), "ministral3").contains("rope_parameters"));
  EXPECT_FALSE(
      withClassDefaults({{"rope_scaling", {{"factor", 2.0}}}}, "ministral3").contains("rope_parameters"));
}

TEST(TextConfig, HasTheKeysOfTheEnclosingConfigThatItLacks) {
  const Json whole = {{"model_type", "gemma3"},
                      {"architectures", {"Gemma3ForConditionalGeneration"}},
                      {"eos_token_id", 1},
                      {"hidden_size", 5},
                      {"vision_config", {{"hidden_size", 3}}},
                      {"text_config", {{"hidden_size", 7}}}};
  EXPECT_EQ(textConfigOf(whole),
            Json({{"model_type", "gemma3_text"}, {"eos_token_id", 1}, {"hidden_size", 7}}));
  Json typed = whole;
  typed["model_type"] = "mistral3";
  typed["text_config"]["model_type"] = "ministral3";
  EXPECT_EQ(textConfigOf(typed)["model_type"], "ministral3");
  const Json plain = {{"model_type", "llama"}, {"architectures", {"LlamaForCausalLM"}}};
  EXPECT_EQ(textConfigOf(plain), plain);
}

} // namespace
} // namespace trainc
