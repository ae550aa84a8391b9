// Equality with Hugging Face's tokenizers; test/golden/tokenizer/make_goldens.py wrote the numbers.
#include "runtime/data/tokenizer/pre_tokenizer.h"
#include "runtime/data/tokenizer/tokenizer.h"
#include "runtime/data/tokenizer/unicode.h"
#include "test/unit/runtime/data/support.h"
#include "test/unit/runtime/data/tokenizer_goldens.h"

#include <map>
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

std::vector<std::string> variants() {
  std::vector<std::string> names;
  for (const Json &variant : goldens()["variants"])
    names.push_back(variant["name"]);
  return names;
}

class TokenizerGolden : public testing::TestWithParam<std::string> {
protected:
  /// The golden variant, and the tokenizer it describes.
  void SetUp() override {
    for (const Json &variant : goldens()["variants"])
      if (variant["name"] == GetParam())
        variant_ = variant;
    ASSERT_TRUE(variant_.is_object());
    const std::string file = kTokenizerGoldens + "/" + variant_["file"].get<std::string>();
    const Json &patch = variant_["patch"];
    auto tokenizer = openTokenizer(patch.is_null() ? file : patched(file, patch));
    ASSERT_OK(tokenizer);
    tokenizer_ = std::move(*tokenizer);
  }

  /// The path of `file` with a merge patch.
  std::string patched(const std::string &file, const Json &patch) {
    Json json = Json::parse(readFile(file));
    json.merge_patch(patch);
    return folder_.write("tokenizer.json", json.dump());
  }

  std::vector<uint32_t> encode(std::string_view text) { return idsOf(*tokenizer_, text); }
  size_t texts() const { return variant_["ids"].size(); }
  static std::string text(size_t i) { return goldens()["texts"][i]; }
  std::vector<uint32_t> ids(size_t i) const { return variant_["ids"][i]; }

  const Folder folder_;
  Json variant_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_P(TokenizerGolden, EqualsHuggingFace) {
  ASSERT_GE(texts(), 140U);
  for (size_t i = 0; i < texts(); ++i) {
    // Capital letters of Unicode 16, which utf8proc does not know yet.
    if (GetParam() == "plain_letters" && text(i).starts_with("\u1c89"))
      continue;
    EXPECT_EQ(encode(text(i)), ids(i)) << "text " << i << ": " << goldens()["texts"][i].dump(-1, ' ', true);
  }
}

TEST_P(TokenizerGolden, DecodesAsHuggingFace) {
  ASSERT_EQ(variant_["decoded"].size(), texts());
  for (size_t i = 0; i < texts(); ++i) {
    const Json &decoded = variant_["decoded"][i];
    const std::string expected = decoded.is_null() ? text(i) : decoded.get<std::string>();
    // An added token that is not ASCII keeps its content here; there it is read in the byte alphabet.
    if (text(i).find("§end|§") == std::string::npos) {
      EXPECT_EQ(tokenizer_->decode(ids(i)), expected) << "text " << i;
    }
  }
}

TEST_P(TokenizerGolden, StreamsWholeCharacters) {
  for (size_t i = 0; i < texts(); ++i) {
    TextStream stream(tokenizer_->decoder());
    std::string all;
    for (const uint32_t id : ids(i)) {
      const std::string part = stream.next(id);
      EXPECT_EQ(utf8Prefix(part), part.size());
      all += part;
    }
    EXPECT_EQ(all + stream.finish(), tokenizer_->decode(ids(i)));
  }
}

/// A text cut at lastCut(), which sees only a prefix, gives the ids of the whole.
TEST_P(TokenizerGolden, CutsWhereTheIdsStayTheSame) {
  std::set<std::pair<std::string, size_t>> found;
  for (size_t i = 0; i < texts(); ++i)
    for (size_t known = 1; known <= std::min<size_t>(text(i).size(), 400); ++known)
      found.emplace(text(i), tokenizer_->lastCut(std::string_view(text(i)).substr(0, known)));
  size_t real = 0;
  for (const auto &[text, cut] : found) {
    if (cut == 0)
      continue;
    ++real;
    std::vector<uint32_t> ids = encode(text.substr(0, cut));
    ASSERT_OK(tokenizer_->encode({std::string_view(text).substr(cut), /*continues=*/true},
                                 [&](std::span<const uint32_t> more, size_t) {
                                   ids.insert(ids.end(), more.begin(), more.end());
                                   return Status();
                                 }));
    EXPECT_EQ(ids, encode(text)) << "byte " << cut << " of " << text;
  }
  // Patterns that are not known, steps after ByteLevel, and a text without a pre-tokenizer may need the
  // whole.
  const std::set<std::string> whole = {"whole",  "gpt4o", "deepseek", "nfd",      "string",       "inverted",
                                       "albert", "t5",    "nmt",      "one_word", "unigram_bytes"};
  EXPECT_EQ(real > 80, !whole.contains(GetParam())) << real;
}

/// Tokenizers that change no text.
class Bytes : public TokenizerGolden {};

TEST_P(Bytes, OfInvalidUtf8AreKept) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte)
    all += static_cast<char>(byte);
  const std::vector<std::string> texts = {
      all,        "\xC3",     "a\xC3 b",  "\xED\xA0\x80",     "\xF4\x90\x80\x80",
      "\xC0\xAF", "\xE4\xBD", "\xFF\xFE", "x\x80\x80\x80y\n", "\xF0\x9F\x98"};
  for (const std::string &text : texts) {
    const bool prefixed = GetParam() == "prefix_space" && utf8Prefix(text) > 0;
    EXPECT_EQ(tokenizer_->decode(encode(text)), (prefixed ? " " : "") + text);
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, Bytes,
                         testing::Values("gpt2", "prefix_space", "llama3", "whole", "falcon", "llama2",
                                         "gemma"),
                         [](const auto &info) { return info.param; });

INSTANTIATE_TEST_SUITE_P(Variants, TokenizerGolden, testing::ValuesIn(variants()),
                         [](const auto &info) { return info.param; });

/// Words as long as no word should be: nothing takes the square of their length.
class LongLines : public TokenizerGolden {};

TEST_P(LongLines, AreEncoded) {
  for (const std::string piece : {"a", " ", "9", "\u4f60", "e\u0301", "ab ", "\U0001f600 "}) {
    std::string line;
    while (line.size() < size_t{1} << 20)
      line += piece;
    EXPECT_LT(encode(line).size(), line.size() + 2) << piece;
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, LongLines, testing::Values("whole", "qwen2", "llama2", "metaspace_first"),
                         [](const auto &info) { return info.param; });

/// Oniguruma's meaning of patterns, and the treatment of matches.
TEST(SplitGoldens, EqualHuggingFace) {
  const Json json = Json::parse(readFile(kTokenizerGoldens + "/splits.json"));
  const std::map<std::string, SplitBehavior> behaviors = {
      {"removed", SplitBehavior::kRemoved},
      {"isolated", SplitBehavior::kIsolated},
      {"merged_with_previous", SplitBehavior::kMergedWithPrevious},
      {"merged_with_next", SplitBehavior::kMergedWithNext},
      {"contiguous", SplitBehavior::kContiguous}};
  ASSERT_GT(json["cases"].size(), 100U);
  for (const Json &golden : json["cases"]) {
    auto regex = Regex::compileOniguruma("test", golden["pattern"]);
    ASSERT_OK(regex);
    std::vector<PreTokenizerStep> steps;
    steps.emplace_back(Split{std::move(*regex), behaviors.at(golden["behavior"]), golden["invert"]});
    const PreTokenizer splitter(std::move(steps), "test");
    for (size_t i = 0; i < golden["pieces"].size(); ++i) {
      std::vector<std::string> pieces;
      Status status;
      EXPECT_TRUE(splitter.forEachWord(json["texts"][i].get_ref<const std::string &>(), StretchPlace::kFirst,
                                       status, [&](std::string_view word) {
                                         pieces.emplace_back(word);
                                         return true;
                                       }));
      EXPECT_EQ(Json(pieces), golden["pieces"][i])
          << golden["pattern"] << " " << golden["behavior"] << " " << golden["invert"] << " text " << i;
    }
  }
}

} // namespace
} // namespace trainc
