// Equality with Hugging Face's tokenizers; test/golden/tokenizer/make_goldens.py wrote the numbers.
#include "runtime/data/tokenizer/tokenizer.h"
#include "test/unit/runtime/data/support.h"
#include "test/unit/runtime/data/tokenizer_goldens.h"

#include <nlohmann/json.hpp>
#include <set>

namespace trainc {
namespace {

using namespace test;
using Json = nlohmann::json;

const Json &goldens() {
  static const Json kJson = Json::parse(readFile(kTokenizerGoldens + "/goldens.json"));
  return kJson;
}

class TokenizerGolden : public testing::TestWithParam<std::string> {
protected:
  /// The golden variant, and the tokenizer it describes.
  void SetUp() override {
    for (const Json &variant : goldens()["variants"])
      if (variant["name"] == GetParam())
        variant_ = variant;
    ASSERT_TRUE(variant_.is_object());
    auto tokenizer = openTokenizer(variant_["patch"].is_null() ? kTokenizerGoldens + "/vocab.json"
                                                               : patched(variant_["patch"]));
    ASSERT_OK(tokenizer);
    tokenizer_ = std::move(*tokenizer);
  }
  std::string patched(const Json &patch) {
    Json json = Json::parse(readFile(kTokenizerGoldens + "/tokenizer.json"));
    json.merge_patch(patch);
    return folder_.write("tokenizer.json", json.dump());
  }

  const Folder folder_;
  Json variant_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_P(TokenizerGolden, EqualsHuggingFace) {
  const Json &texts = goldens()["texts"];
  ASSERT_EQ(texts.size(), variant_["ids"].size());
  ASSERT_GT(texts.size(), 250U);
  for (size_t i = 0; i < texts.size(); ++i)
    EXPECT_EQ(tokenizer_->encode(texts[i].get<std::string>()),
              variant_["ids"][i].get<std::vector<uint32_t>>())
        << "text " << i << ": " << texts[i].dump(-1, ' ', true);
}

/// A text cut where lastCut() says, knowing only what comes before some place, gives the ids of the whole.
TEST_P(TokenizerGolden, CutsWhereTheIdsStayTheSame) {
  std::set<std::pair<std::string, size_t>> found;
  for (const Json &json : goldens()["texts"]) {
    const auto text = json.get<std::string>();
    for (size_t known = 1; known <= text.size(); ++known)
      found.emplace(text, tokenizer_->lastCut(std::string_view(text).substr(0, known)));
  }
  size_t real = 0;
  for (const auto &[text, cut] : found) {
    if (cut == 0)
      continue;
    ++real;
    std::vector<uint32_t> ids = tokenizer_->encode(text.substr(0, cut));
    std::ranges::copy(tokenizer_->encode(text.substr(cut)), std::back_inserter(ids));
    EXPECT_EQ(ids, tokenizer_->encode(text)) << "byte " << cut << " of " << text;
  }
  const bool cuts = GetParam() != "prefix_space" && GetParam() != "whole";
  EXPECT_EQ(real > 100, cuts) << real;
}

TEST_P(TokenizerGolden, DecodesToTheText) {
  for (const Json &json : goldens()["texts"]) {
    const auto text = json.get<std::string>();
    const bool stripsSpaces =
        text.find("<mask>") != std::string::npos || text.find("[PAD]") != std::string::npos;
    const bool addsSpace =
        GetParam() == "prefix_space" && (!text.starts_with(' ') || text.find('<') != std::string::npos);
    if (stripsSpaces || addsSpace)
      continue;
    EXPECT_EQ(tokenizer_->decode(tokenizer_->encode(text)), text);
  }
}

TEST_P(TokenizerGolden, LosesNoByteOfInvalidUtf8) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte)
    all += static_cast<char>(byte);
  const std::vector<std::string> texts = {
      all,        "\xC3",     "a\xC3 b",  "\xED\xA0\x80",     "\xF4\x90\x80\x80",
      "\xC0\xAF", "\xE4\xBD", "\xFF\xFE", "x\x80\x80\x80y\n", "\xF0\x9F\x98"};
  for (const std::string &text : texts) {
    const std::string expected = (GetParam() == "prefix_space" ? " " : "") + text;
    EXPECT_EQ(tokenizer_->decode(tokenizer_->encode(text)), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, TokenizerGolden,
                         testing::Values("gpt2", "prefix_space", "llama3", "qwen2", "whole", "vocab_merges"),
                         [](const auto &info) { return info.param; });

} // namespace
} // namespace trainc
