#include "base/config_defaults.h"
#include "base/config_forms.h"
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

TEST(ConfigForms, NamesAreThoseThatTheClassReads) {
  EXPECT_EQ(withNamesOfClass({{"n_embed", 48}, {"hidden_size", 64}, {"num_attention_heads", 6}}, "bloom"),
            Json({{"hidden_size", 48}, {"n_head", 6}}));
  EXPECT_EQ(withNamesOfClass({{"n_head", 4}, {"num_attention_heads", 6}, {"n_embed", nullptr}}, "bloom"),
            Json({{"n_head", 6}}));
  EXPECT_EQ(withNamesOfClass({{"n_embed", 48}, {"hidden_size", 64}}, "falcon"), Json({{"hidden_size", 48}}));
  const Json llama = {{"num_attention_heads", 6}};
  EXPECT_EQ(withNamesOfClass(llama, "llama"), llama);
}

TEST(ConfigForms, RotaryKeysAreThoseOfVersion4) {
  EXPECT_EQ(withRopeOfVersion4({{"rope_parameters",
                                 {{"rope_type", "linear"},
                                  {"factor", 2.0},
                                  {"rope_theta", 500.0},
                                  {"partial_rotary_factor", 0.5}}}},
                               "llama"),
            Json({{"rope_theta", 500.0},
                  {"partial_rotary_factor", 0.5},
                  {"rope_scaling", {{"rope_type", "linear"}, {"factor", 2.0}}}}));
  EXPECT_EQ(
      withRopeOfVersion4({{"rotary_pct", 0.25}, {"rotary_emb_base", 7.0}, {"rope_theta", 8.0}}, "gpt_neox"),
      Json({{"partial_rotary_factor", 0.25}, {"rope_theta", 8.0}}));
  const Json version4 = {{"rope_theta", 500.0}, {"rope_scaling", nullptr}};
  EXPECT_EQ(withRopeOfVersion4(version4, "llama"), version4);
}

/// As in transformers, a `rope_scaling` replaces flat `rope_parameters`, and joins those of full attention.
TEST(ConfigForms, ScalingBesideRotaryParametersCounts) {
  const Json scaling = {{"rope_type", "linear"}, {"factor", 4.0}};
  EXPECT_EQ(
      withRopeOfVersion4({{"rope_scaling", scaling}, {"rope_parameters", {{"rope_theta", 500.0}}}}, "llama"),
      Json({{"rope_scaling", scaling}}));
  const Json ofTypes = {{"full_attention", {{"rope_theta", 500.0}}},
                        {"sliding_attention", {{"rope_theta", 300.0}}}};
  EXPECT_EQ(withRopeOfVersion4({{"rope_scaling", scaling}, {"rope_parameters", ofTypes}}, "gemma3_text"),
            Json({{"rope_theta", 500.0}, {"rope_local_base_freq", 300.0}, {"rope_scaling", scaling}}));
  EXPECT_EQ(withRopeOfVersion4({{"rope_scaling", scaling}, {"rope_parameters", ofTypes}}, "modernbert"),
            Json({{"global_rope_theta", 500.0},
                  {"local_rope_theta", 300.0},
                  {"rope_parameters", {{"full_attention", scaling}, {"sliding_attention", scaling}}}}));
}

/// OLMo 3's layers with a window have the class's base of 500000 unless the config gives them one.
TEST(ConfigForms, LayersWithAWindowHaveTheBaseOfTheClass) {
  const Json full = {{"full_attention", {{"rope_theta", 300.0}}}};
  const Json config = withRopeOfVersion4({{"rope_parameters", full}}, "olmo3");
  EXPECT_EQ(config["rope_theta"], 300.0);
  EXPECT_EQ(config["rope_local_base_freq"], 500000.0);
}

TEST(ConfigForms, LayersWithAWindowHaveRotaryKeysOfTheirOwn) {
  const Json plain = {{"rope_type", "default"}, {"rope_theta", 300.0}};
  const Json scaled = {{"rope_type", "linear"}, {"factor", 2.0}, {"rope_theta", 500.0}};
  const auto both = [](const Json &full, const Json &sliding) {
    return Json({{"rope_parameters", {{"full_attention", full}, {"sliding_attention", sliding}}}});
  };
  EXPECT_EQ(withRopeOfVersion4(both(scaled, plain), "gemma3_text"),
            Json({{"rope_theta", 500.0},
                  {"rope_local_base_freq", 300.0},
                  {"rope_scaling", {{"rope_type", "linear"}, {"factor", 2.0}}}}));
  EXPECT_EQ(withRopeOfVersion4(both(plain, plain), "modernbert"),
            Json({{"global_rope_theta", 300.0}, {"local_rope_theta", 300.0}}));
  // Version 4 cannot express scaling in these layers.
  const Json rest = {{"rope_type", "linear"}, {"factor", 2.0}};
  EXPECT_EQ(withRopeOfVersion4(both(plain, scaled), "olmo3")["rope_parameters"],
            Json({{"sliding_attention", rest}}));
  EXPECT_EQ(withRopeOfVersion4(both(scaled, plain), "modernbert")["rope_parameters"],
            Json({{"full_attention", rest}}));
  EXPECT_EQ(withRopeOfVersion4(both(plain, 5), "gemma3_text")["rope_parameters"],
            Json({{"sliding_attention", 5}}));
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
