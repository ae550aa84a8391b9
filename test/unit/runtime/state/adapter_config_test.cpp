#include "runtime/state/adapter_config.h"

#include "runtime/formats/adapter_names.h"
#include "test/unit/runtime/state/support.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace trainc {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// The message about a configuration with one key more than LoRA needs; empty if it is known.
std::string messageFor(std::string_view key) {
  const std::string text = fmt::format(R"({{"peft_type": "LORA", "r": 4, "lora_alpha": 8{}}})", key);
  return parseAdapterConfig("adapter_config.json", text).status().message();
}

TEST(AdapterConfig, InitialValuesThatChangeTheBase) {
  for (const char *value : {"pissa", "pissa_niter_16", "corda", "olora", "loftq", "lora_ga", "mica", "PiSSA"})
    EXPECT_THAT(messageFor(fmt::format(R"(, "init_lora_weights": "{}")", value)),
                AllOf(HasSubstr(fmt::format(R"("init_lora_weights": "{}" changes the base)", value)),
                      HasSubstr("path_initial_model_for_weight_conversion")));
  for (const char *value : {"true", "false", R"("gaussian")", R"("eva")", R"("orthogonal")"})
    EXPECT_EQ(messageFor(fmt::format(R"(, "init_lora_weights": {})", value)), "");
}

TEST(AdapterConfig, OtherComputations) {
  for (const char *key : {"kasa_config", "velora_config", "arrow_config"}) {
    EXPECT_THAT(messageFor(fmt::format(R"(, "{}": {{"x": 1}})", key)), HasSubstr(key));
    EXPECT_EQ(messageFor(fmt::format(R"(, "{}": null)", key)), "");
  }
}

/// The message about an adapter with these modules_to_save for a plan with an embedding and `more`
/// parameters.
std::string tiedMessage(const char *saved, std::vector<std::string> more = {}, const char *key = "",
                        const char *model = "LlamaForCausalLM") {
  const TempFolder folder;
  writeFile(folder / kAdapterFile, "");
  writeFile(folder / kAdapterConfigFile,
            fmt::format(R"({{"peft_type": "LORA", "r": 4, "lora_alpha": 8, "modules_to_save": ["{}"]{}}})",
                        saved, key));
  more.push_back("model.embed_tokens.weight");
  return checkTiedEmbedding(fmt::format(R"({{"architectures": ["{}"]}})", model), more, folder.path())
      .message();
}

TEST(AdapterConfig, ASavedEmbeddingThatIsTheHead) {
  EXPECT_THAT(tiedMessage("embed_tokens"), HasSubstr("the adapter replaces the embedding"));
  EXPECT_THAT(tiedMessage("model.embed_tokens"), HasSubstr("ensure_weight_tying"));
  EXPECT_EQ(tiedMessage("embed_tokens", {"lm_head.weight"}), "");
  EXPECT_EQ(tiedMessage("embed_tokens", {}, R"(, "ensure_weight_tying": true)"), "");
  EXPECT_EQ(tiedMessage("embed_tokens", {"score.weight"}, "", "LlamaForSequenceClassification"), "");
  EXPECT_EQ(tiedMessage("norm"), "");
}

} // namespace
} // namespace trainc
