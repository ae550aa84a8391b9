#include "runtime/state/model_config.h"

#include "test/unit/runtime/state/support.h"

#include <array>
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace trainc {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The message about a plan's config and one beside weights; empty if they agree.
std::string difference(std::string_view own, std::string_view beside) {
  const TempFolder folder;
  writeFile(folder / kConfigFile, beside);
  const Status status = compareConfigs(own, folder.path()).status();
  if (!status.ok()) {
    EXPECT_EQ(status.exitCode(), 2);
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr((folder / kConfigFile).string()), HasSubstr("--no-config-check")));
  }
  return status.message();
}

constexpr std::string_view kLlama = R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"],
  "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
  "hidden_act": "silu", "torch_dtype": "float32", "tie_word_embeddings": false, "max_position_embeddings": 64})";

TEST(ModelConfig, EqualMathIsEqual) {
  EXPECT_EQ(difference(kLlama, kLlama), "");
  // As transformers 5 writes it, in another type, with other tokens and dropout; f32's 1e-5; a default for
  // theta.
  EXPECT_EQ(difference(kLlama, R"({"model_type": "llama", "architectures": ["LlamaForSequenceClassification"],
      "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "rms_norm_eps": 9.999999747378752e-06,
      "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"}, "head_dim": 16, "attention_dropout": 0.1,
      "dtype": "bfloat16", "transformers_version": "5.24.0", "eos_token_id": 7, "id2label": {"0": "x"}, "hidden_act": "swish",
      "rope_scaling": null, "layer_types": ["full_attention", "full_attention"], "sliding_window": null})"),
            "");
  EXPECT_EQ(
      difference(
          R"({"model_type": "gpt2", "n_head": 12, "activation_function": "gelu_pytorch_tanh"})",
          R"({"model_type": "gpt2", "n_head": 12, "layer_norm_epsilon": 1e-05, "n_inner": null, "resid_pdrop": 0.1})"),
      "");
}

TEST(ModelConfig, OtherMathIsListed) {
  const std::string found =
      difference(kLlama, R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 8,
      "num_key_value_heads": 2, "rms_norm_eps": 1e-6, "rope_theta": 500000.0, "hidden_act": "gelu"})");
  for (const char *line : {"\n    num_attention_heads: 8 in this file, 4 in the plan",
                           "\n    rms_norm_eps: 1e-06 in this file, 1e-05 in the plan",
                           "\n    rope_theta: 500000.0 in this file, 10000.0 in the plan",
                           "\n    hidden_act: \"gelu\" in this file, \"silu\" in the plan",
                           "\n    head_dim: 8 in this file, 16 in the plan"})
    EXPECT_THAT(found, HasSubstr(line));
  EXPECT_THAT(found, Not(HasSubstr("num_key_value_heads")));
}

TEST(ModelConfig, AMissingKeyHasItsDefault) {
  const std::string found =
      difference(kLlama, R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4,
      "rope_parameters": {"rope_theta": 10000, "rope_type": "llama3", "factor": 8.0}})");
  EXPECT_THAT(
      found,
      AllOf(
          HasSubstr("rms_norm_eps: 1e-06 (by default) in this file, 1e-05 in the plan"),
          HasSubstr("num_key_value_heads: 4 in this file, 2 in the plan"),
          HasSubstr(
              R"(rope_scaling: {"factor":8.0,"rope_type":"llama3"} in this file, null (by default) in the plan)")));
  EXPECT_THAT(
      difference(R"({"model_type": "gpt2", "scale_attn_by_inverse_layer_idx": true})",
                 R"({"model_type": "gpt2"})"),
      HasSubstr("scale_attn_by_inverse_layer_idx: false (by default) in this file, true in the plan"));
  EXPECT_THAT(
      difference(R"({"model_type": "mistral", "sliding_window": null})", R"({"model_type": "mistral"})"),
      HasSubstr("sliding_window: 4096 (by default) in this file, null (by default) in the plan"));
}

TEST(ModelConfig, DefaultsOfClassesMayBeWritten) {
  for (
      const auto &[bare, written] : std::initializer_list<std::pair<const char *, const char *>>{
          {R"({"model_type": "falcon"})",
           R"({"model_type": "falcon", "parallel_attn": true, "multi_query": true})"},
          {R"({"model_type": "olmo3"})", R"({"model_type": "olmo3", "rope_theta": 500000.0})"},
          {R"({"model_type": "ministral3"})",
           R"({"model_type": "ministral3", "rope_parameters": {"type": "yarn", "rope_type": "yarn", "rope_theta": 1000000.0,
                "factor": 16.0, "original_max_position_embeddings": 16384, "max_position_embeddings": 262144, "beta_fast": 32.0,
                "beta_slow": 1.0, "mscale_all_dim": 1.0, "mscale": 1.0, "llama_4_scaling_beta": 0.1}})"}}) {
    EXPECT_EQ(difference(bare, written), "");
    EXPECT_EQ(difference(written, bare), "");
  }
}

/// A config of Gemma 3 or OLMo 3 with the keys `rest`.
std::string windowed(std::string_view type, std::string_view rest) {
  return fmt::format(
      R"({{"model_type": "{}", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 8,
    "sliding_window": 16{}{}}})",
      type, rest.empty() ? "" : ", ", rest);
}

TEST(ModelConfig, RotaryKeysOfBothVersionsAreEqual) {
  for (
      const auto &[type, version4, version5] : std::initializer_list<std::array<const char *, 3>>{
          {"gemma3_text", "",
           R"("rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 1e6},
             "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}})"},
          {"gemma3_text", R"("rope_theta": 5000, "rope_local_base_freq": 300,
             "rope_scaling": {"type": "linear", "factor": 8.0})",
           R"("rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 5000},
             "sliding_attention": {"rope_type": "default", "rope_theta": 300}})"},
          {"gemma2", R"("rope_scaling": {"rope_type": "linear", "factor": 2.0})",
           R"("rope_scaling": null, "rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 10000})"},
          {"olmo3", R"("rope_theta": 300, "rope_scaling": {"rope_type": "yarn", "factor": 4.0})",
           R"("rope_parameters": {"full_attention": {"rope_type": "yarn", "factor": 4.0, "rope_theta": 300},
             "sliding_attention": {"rope_type": "default", "rope_theta": 300}})"}}) {
    EXPECT_EQ(difference(windowed(type, version4), windowed(type, version5)), "");
    EXPECT_EQ(difference(windowed(type, version5), windowed(type, version4)), "");
  }
  constexpr const char *kTwoBases = R"("rope_parameters": {"full_attention": {"rope_theta": 500000.0},
    "sliding_attention": {"rope_theta": 300}})";
  EXPECT_THAT(difference(windowed("olmo3", ""), windowed("olmo3", kTwoBases)),
              HasSubstr("\n    rope_local_base_freq: 300 in this file, null (by default) in the plan"));
  EXPECT_THAT(
      difference(windowed("gemma3_text", ""), windowed("gemma3_text", kTwoBases)),
      AllOf(HasSubstr("\n    rope_local_base_freq: 300 in this file, 10000.0 (by default) in the plan"),
            HasSubstr("\n    rope_theta: 500000.0 in this file, 1000000.0 (by default) in the plan")));
  EXPECT_THAT(
      difference(windowed("gemma3_text", ""), windowed("gemma3_text", R"("rope_parameters":
                {"sliding_attention": {"rope_type": "linear", "factor": 2.0, "rope_theta": 10000.0}})")),
      HasSubstr(
          "\n    rope_parameters: {\"sliding_attention\":{\"factor\":2.0,\"rope_type\":\"linear\"}} in this "
          "file, null (by default) in the plan"));
}

TEST(ModelConfig, UsualTypesOfLayersMayBeWritten) {
  const auto listed = [](size_t period) {
    std::string list;
    for (size_t i = 0; i < 8; ++i)
      list += fmt::format("{}\"{}\"", i == 0 ? "" : ", ",
                          (i + 1) % period == 0 ? "full_attention" : "sliding_attention");
    return fmt::format("\"layer_types\": [{}]", list);
  };
  for (const auto &[type, period] :
       {std::pair("gemma2", size_t(2)), std::pair("gemma3_text", size_t(6)), std::pair("olmo3", size_t(4))}) {
    EXPECT_EQ(difference(windowed(type, ""), windowed(type, listed(period))), "") << type;
    EXPECT_EQ(difference(windowed(type, listed(period)), windowed(type, "")), "") << type;
    EXPECT_THAT(difference(windowed(type, ""), windowed(type, listed(3))), HasSubstr("\n    layer_types: ["))
        << type;
    EXPECT_THAT(difference(windowed(type, ""), windowed(type, listed(1))), HasSubstr("\n    layer_types: ["))
        << type;
  }
  EXPECT_EQ(difference(windowed("gemma3_text", R"("sliding_window_pattern": 3)"),
                       windowed("gemma3_text", listed(3))),
            "");
  EXPECT_THAT(
      difference(windowed("gemma3_text", R"("sliding_window_pattern": 3)"), windowed("gemma3_text", "")),
      HasSubstr("\n    layer_types: null (by default) in this file"));
}

TEST(ModelConfig, ANullHeadSizeFollowsFromTheWidth) {
  constexpr const char *kNull =
      R"({"model_type": "qwen3", "hidden_size": 64, "num_attention_heads": 4, "head_dim": null})";
  EXPECT_EQ(
      difference(kNull,
                 R"({"model_type": "qwen3", "hidden_size": 64, "num_attention_heads": 4, "head_dim": 16})"),
      "");
  EXPECT_THAT(difference(kNull, R"({"model_type": "qwen3", "hidden_size": 64, "num_attention_heads": 4})"),
              HasSubstr("head_dim: 128 (by default) in this file, 16 in the plan"));
}

TEST(ModelConfig, OtherNamesOfKeysAreEqual) {
  constexpr const char *kOlder = R"({"model_type": "bloom", "n_embed": 48, "num_attention_heads": 6,
    "num_hidden_layers": 3, "hidden_size": 64, "offset_alibi": 100, "skip_bias_add": true})";
  constexpr const char *kUsual = R"({"model_type": "bloom", "hidden_size": 48, "n_head": 6, "n_layer": 3})";
  EXPECT_EQ(difference(kOlder, kUsual), "");
  EXPECT_EQ(difference(kUsual, kOlder), "");
  EXPECT_THAT(difference(kOlder, R"({"model_type": "bloom", "hidden_size": 48, "n_head": 4})"),
              HasSubstr("n_head: 4 in this file, 6 in the plan"));
}

TEST(ModelConfig, KeysThatOneFileLacksAndNobodyKnowsAreNotCompared) {
  EXPECT_EQ(difference(R"({"model_type": "toy", "depth": 3})", R"({"model_type": "toy", "width": 4})"), "");
  EXPECT_THAT(difference(R"({"model_type": "toy", "depth": 3})", R"({"model_type": "toy", "depth": 4})"),
              HasSubstr("depth: 4 in this file, 3 in the plan"));
}

TEST(ModelConfig, AnUntypedFileIsOfThePlansType) {
  constexpr std::string_view kGpt = R"({"model_type": "gpt2", "n_head": 4})";
  EXPECT_THAT(difference(kGpt, "{}"), HasSubstr("n_head: 12 (by default) in this file, 4 in the plan"));
  EXPECT_THAT(difference(kGpt, R"({"n_head": 6})"), HasSubstr("n_head: 6 in this file, 4 in the plan"));
  EXPECT_EQ(difference(kGpt, R"({"n_head": 4})"), "");
}

TEST(ModelConfig, TheKeysOfATextModelMayBeWithinAnother) {
  const std::string inside = std::string(kLlama);
  EXPECT_EQ(difference(kLlama, R"({"model_type": "llava", "text_config": )" + inside + "}"), "");
  EXPECT_THAT(difference(kLlama, R"({"model_type": "llava", "text_config": {"model_type": "llama",
      "num_attention_heads": 8}})"),
              HasSubstr("num_attention_heads: 8 in this file, 4 in the plan"));
}

TEST(ModelConfig, TiedEmbeddingsAreCompared) {
  EXPECT_THAT(difference(kLlama, R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4,
      "num_key_value_heads": 2, "rms_norm_eps": 1e-5, "tie_word_embeddings": true})"),
              HasSubstr("tie_word_embeddings: true in this file, false in the plan"));
  EXPECT_THAT(
      difference(R"({"model_type": "gpt2"})", R"({"model_type": "gpt2", "tie_word_embeddings": false})"),
      HasSubstr("tie_word_embeddings: false in this file, true (by default) in the plan"));
}

TEST(ModelConfig, KeysThatChangeTheMathAreComparedWithTheirDefaults) {
  const std::string begin = std::string(kLlama.substr(0, kLlama.rfind('}'))) + ", ";
  for (const auto &[key, value] :
       {std::pair("partial_rotary_factor", "0.5"), std::pair("sliding_window", "32"),
        std::pair("attention_bias", "true"), std::pair("logits_scaling", "8.0"),
        std::pair("embedding_multiplier", "12.0"), std::pair("attention_multiplier", "0.1"),
        std::pair("no_rope_layers", "[1, 0]"), std::pair("qk_layernorm", "true"),
        std::pair("quantization_config", R"({"bits":4})")}) {
    const std::string file = begin + '"' + key + "\": " + value + '}';
    EXPECT_THAT(difference(kLlama, file), HasSubstr(std::string("\n    ") + key + ": ")) << file;
    EXPECT_EQ(difference(file, file), "");
  }
  EXPECT_EQ(difference(kLlama,
                       begin + R"("query_pre_attn_scalar": 16, "logit_scale": 1.0, "no_rope_layers": null})"),
            "");
  EXPECT_THAT(difference(kLlama, begin + R"("query_pre_attn_scalar": 256})"),
              HasSubstr("query_pre_attn_scalar: 256 in"));
  EXPECT_THAT(
      difference(R"({"model_type": "qwen3", "hidden_size": 64, "num_attention_heads": 4, "head_dim": 16})",
                 R"({"model_type": "qwen3", "hidden_size": 64, "num_attention_heads": 4})"),
      HasSubstr("head_dim: 128 (by default) in this file, 16 in the plan"));
  EXPECT_THAT(difference(R"({"model_type": "bloom", "n_head": 4})", R"({"model_type": "bloom"})"),
              HasSubstr("n_head: 8 (by default) in this file, 4 in the plan"));
  EXPECT_THAT(difference(R"({"model_type": "olmo3", "rms_norm_eps": 1e-6, "sliding_window": 16})",
                         R"({"model_type": "olmo3", "sliding_window": 16})"),
              HasSubstr("rms_norm_eps: 1e-05 (by default) in this file, 1e-06 in the plan"));
  EXPECT_EQ(difference(R"({"model_type": "gpt_neox", "rotary_pct": 0.25, "rotary_emb_base": 10000})",
                       R"({"model_type": "gpt_neox"})"),
            "");
}

TEST(ModelConfig, RemarksTellWhatIsNotCompared) {
  const TempFolder folder;
  const std::string path = (folder / kConfigFile).string();
  writeFile(folder / kConfigFile,
            R"({"model_type": "toy", "width": 3, "vocab_size": 7, "bend": 2.5, "twist": false,
    "use_cache": true, "hooks": []})");
  const ConfigRemarks both =
      *compareConfigs(R"({"model_type": "toy", "depth": 3, "width": 3, "n_layer": 2})", folder.path());
  EXPECT_EQ(both.note, path + " lacks keys of the plan's own config.json, which are not compared: depth");
  EXPECT_EQ(both.warning, path +
                              " has keys that the plan's own config.json lacks, and that may change what the "
                              "weights compute: bend 2.5");
  const ConfigRemarks none =
      *compareConfigs(R"({"model_type": "toy", "width": 3, "bend": 2.5})", folder.path());
  EXPECT_EQ(none.note + none.warning, "");
  EXPECT_EQ(compareConfigs("", folder.path())->note,
            path + " is not compared, because the plan has no config.json of its own: check "
                   "that the plan's model computes the same as the model of the weights");
}

TEST(ModelConfig, WithoutAFileThereIsNothingToCompare) {
  const TempFolder folder;
  EXPECT_TRUE(compareConfigs(kLlama, folder.path()).ok());
}

TEST(ModelConfig, AFileThatIsNoObjectIsAnError) {
  const TempFolder folder;
  for (const char *text : {"{", "[1]", "7", ""}) {
    writeFile(folder / kConfigFile, text);
    const Status status = compareConfigs(kLlama, folder.path()).status();
    EXPECT_EQ(status.exitCode(), 2) << text;
    EXPECT_THAT(status.message(), HasSubstr(kConfigFile));
  }
}

} // namespace
} // namespace trainc
