// Tokenizer files that are wrong or not supported: each message.
#include "runtime/data/tokenizer/byte_alphabet.h"
#include "runtime/data/tokenizer/tokenizer.h"
#include "runtime/data/tokenizer/unicode.h"
#include "test/unit/runtime/data/support.h"

#include <nlohmann/json.hpp>

namespace trainc {
namespace {

using namespace test;
using Json = nlohmann::json;

/// The 256 bytes, then "ab" and "abc".
Json vocabulary() {
  Json vocabulary;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    std::string token;
    appendUtf8(byteAlphabet()[byte], token);
    vocabulary[token] = byte;
  }
  vocabulary["ab"] = 256;
  vocabulary["abc"] = 257;
  return vocabulary;
}

Json goodJson() {
  return {{"added_tokens", Json::array()},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
          {"model", {{"type", "BPE"}, {"vocab", vocabulary()}, {"merges", {"a b", Json{"ab", "c"}}}}}};
}

class TokenizerFiles : public testing::Test {
protected:
  /// Opens the good tokenizer.json after a change.
  Result<std::unique_ptr<Tokenizer>> open(const std::string &pointer, Json value) {
    Json json = goodJson();
    json[Json::json_pointer(pointer)] = std::move(value);
    folder_.write("tokenizer.json", json.dump());
    return openTokenizer(path_);
  }
  const Folder folder_;
  const std::string path_ = folder_ / "tokenizer.json";
};

TEST_F(TokenizerFiles, MergesByRank) {
  auto tokenizer = open("/model/dropout", nullptr);
  ASSERT_OK(tokenizer);
  EXPECT_THAT((*tokenizer)->encode("abcab bc"), testing::ElementsAre(257, 256, ' ', 'b', 'c'));
  EXPECT_EQ((*tokenizer)->vocabulary(), 258U);
  EXPECT_EQ((*tokenizer)->bytesOf(257), "abc");
  EXPECT_EQ((*tokenizer)->bytesOf(258), "");
  EXPECT_EQ((*tokenizer)->findToken("ab"), 256U);
  EXPECT_EQ((*tokenizer)->findToken("xy"), std::nullopt);
}

TEST_F(TokenizerFiles, FingerprintFollowsTheFile) {
  const auto before = open("/version", "1.0");
  const auto after = open("/version", "1.1");
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_NE((*before)->fingerprint(), (*after)->fingerprint());
}

TEST_F(TokenizerFiles, AddedTokensExtendTheVocabulary) {
  auto tokenizer = open("/added_tokens", {{{"id", 300}, {"content", "<é>"}}});
  ASSERT_OK(tokenizer);
  EXPECT_THAT((*tokenizer)->encode("a<é>b"), testing::ElementsAre('a', 300, 'b'));
  EXPECT_EQ((*tokenizer)->vocabulary(), 301U);
  EXPECT_EQ((*tokenizer)->bytesOf(300), "<é>");
  EXPECT_EQ((*tokenizer)->findToken("<é>"), 300U);
}

TEST_F(TokenizerFiles, NamesUnsupportedPieces) {
  EXPECT_INVALID(open("/model/type", "WordPiece"),
                 path_ + ": model.type: \"WordPiece\" is not supported; expected BPE");
  EXPECT_INVALID(open("/model/dropout", 0.5), path_ + ": model.dropout: 0.5 is not supported; expected null");
  EXPECT_INVALID(open("/model/end_of_word_suffix", "</w>"),
                 path_ + ": model.end_of_word_suffix: \"</w>\" is not supported; expected null");
  EXPECT_INVALID(open("/model/continuing_subword_prefix", "##"),
                 path_ + ": model.continuing_subword_prefix: \"##\" is not supported; expected null");
  EXPECT_INVALID(
      open("/model/byte_fallback", true),
      path_ + ": model.byte_fallback: true is not supported; expected false, with a byte-level vocabulary");
  EXPECT_INVALID(open("/normalizer", {{"type", "NFC"}}),
                 path_ + ": normalizer: {\"type\":\"NFC\"} is not supported; expected null");
  EXPECT_INVALID(
      open("/pre_tokenizer", {{"type", "Whitespace"}}),
      path_ +
          ": pre_tokenizer: {\"type\":\"Whitespace\"} is not supported; expected ByteLevel, or a Sequence of "
          "Split and ByteLevel");
  EXPECT_INVALID(open("/pre_tokenizer", nullptr),
                 path_ + ": pre_tokenizer: null is not supported; expected ByteLevel, or a "
                         "Sequence of Split and ByteLevel");
  EXPECT_INVALID(
      open("/added_tokens", {{{"id", 300}, {"content", "x"}, {"single_word", true}}}),
      path_ +
          ": added_tokens[0]: {\"content\":\"x\",\"id\":300,\"single_word\":true} is not supported; expected "
          "single_word false");
}

TEST_F(TokenizerFiles, NamesUnsupportedSplits) {
  const auto sequence = [&](Json split, Json byteLevel) {
    return open("/pre_tokenizer",
                {{"type", "Sequence"}, {"pretokenizers", {std::move(split), std::move(byteLevel)}}});
  };
  const Json byteLevel = {{"type", "ByteLevel"}, {"use_regex", false}};
  const Json regex = {{"Regex", "\\w+"}};
  EXPECT_INVALID(sequence({{"type", "Split"}, {"pattern", regex}, {"behavior", "Isolated"}}, byteLevel),
                 path_ + ": pre_tokenizer: Split: \"\\\\w+\" is not supported; expected the pattern of "
                         "GPT-2, Llama 3 or Qwen 2");
  EXPECT_INVALID(sequence({{"type", "Split"}, {"behavior", "Removed"}}, byteLevel),
                 path_ + ": pre_tokenizer: {\"behavior\":\"Removed\",\"type\":\"Split\"} is not supported; "
                         "expected a Split by "
                         "Regex with behavior Isolated, not inverted");
  EXPECT_INVALID(
      sequence({{"type", "Split"}}, {{"type", "ByteLevel"}}),
      path_ +
          ": pre_tokenizer: {\"type\":\"ByteLevel\"} is not supported; expected ByteLevel with use_regex and "
          "add_prefix_space false after a Split");
}

TEST_F(TokenizerFiles, RefusesDamagedJson) {
  folder_.write("tokenizer.json", "{\"model\": [1, }");
  const auto damaged = openTokenizer(path_);
  ASSERT_FALSE(damaged.ok());
  EXPECT_THAT(damaged.status().message(), testing::StartsWith(path_ + ": byte 15: not JSON: syntax error"));
  EXPECT_INVALID(open("/model", 3), path_ + ": expected an object 'model'");
  EXPECT_INVALID(open("/model/vocab", 3),
                 path_ + ": expected the vocabulary as an object token -> id, found number");
  EXPECT_INVALID(open("/model/vocab/ab", -1),
                 path_ + ": vocabulary: token 'ab': expected an id from 0 to 2^30 - 1, found -1");
  EXPECT_INVALID(open("/model/vocab/ab", 257),
                 path_ + ": vocabulary: token 'abc' has id 257, which another token has already");
  EXPECT_INVALID(open("/model/merges", 3), path_ + ": expected an array 'model.merges'");
  EXPECT_INVALID(open("/model/merges", {3}),
                 path_ + ": model.merges[0]: expected \"left right\" or [\"left\", \"right\"], found 3");
  EXPECT_INVALID(open("/model/merges", {"a b c"}),
                 path_ + ": model.merges[0]: expected two tokens with one space between them, found 'a b c'");
  EXPECT_INVALID(open("/model/merges", {"a b", "b c"}),
                 path_ + ": merge 2 ('b' and 'c'): 'bc' is not in the vocabulary");
  EXPECT_INVALID(open("/added_tokens", 3), path_ + ": expected an array 'added_tokens'");
  EXPECT_INVALID(open("/added_tokens", {{{"id", 1}}}),
                 path_ + ": added_tokens[0]: expected an object with a string 'content' and an 'id' from 0 "
                         "to 2^30 - 1, found "
                         "{\"id\":1}");
  EXPECT_INVALID(open("/added_tokens", {{{"id", 300}, {"content", ""}}}),
                 path_ + ": added_tokens: the token with id 300 is empty");
  EXPECT_INVALID(open("/added_tokens", {{{"id", 300}, {"content", "ab"}}}),
                 path_ + ": added_tokens: 'ab' has id 300, but 256 in the vocabulary");
  EXPECT_INVALID(open("/added_tokens", {{{"id", 257}, {"content", "<x>"}}}),
                 path_ + ": added_tokens: '<x>' has id 257, which another token has already");
}

TEST_F(TokenizerFiles, NeedsATokenForEachByte) {
  Json json = goodJson();
  json["model"]["vocab"].erase("Ġ");
  folder_.write("tokenizer.json", json.dump());
  EXPECT_INVALID(openTokenizer(path_),
                 path_ + ": vocabulary: no token 'Ġ' for the byte 0x20; expected a byte-level vocabulary, "
                         "which has a token for each of the 256 bytes");
}

TEST_F(TokenizerFiles, OpensVocabAndMergesFromAnyOfTheirNames) {
  Json vocab = vocabulary();
  vocab["<|endoftext|>"] = 258;
  const std::string vocabPath = folder_.write("vocab.json", vocab.dump());
  const std::string mergesPath = folder_.write("merges.txt", "#version: 0.2\r\na b\r\n\nab c\n");
  for (const std::string &name : {vocabPath, mergesPath, folder_.path().string()}) {
    auto tokenizer = openTokenizer(name);
    ASSERT_OK(tokenizer);
    EXPECT_THAT((*tokenizer)->encode("abc<|endoftext|>"), testing::ElementsAre(257, 258));
  }
  folder_.write("merges.txt", "#version: 0.2\na b\nabc");
  EXPECT_INVALID(openTokenizer(vocabPath),
                 mergesPath + ":3: expected two tokens with one space between them, found 'abc'");
}

TEST_F(TokenizerFiles, RefusesWhatIsNoTokenizer) {
  EXPECT_INVALID(
      openTokenizer("gpt2"),
      "--tokenizer=gpt2: expected 'bytes', a tokenizer.json, a vocab.json or merges.txt, or their folder");
  EXPECT_INVALID(openTokenizer(folder_.path().string()),
                 folder_.path().string() +
                     ": expected a tokenizer.json, or a vocab.json and a merges.txt, in this folder");
  EXPECT_INVALID(openTokenizer(folder_ / "x.json"),
                 folder_ / "x.json" + ": cannot open: No such file or directory");
}

TEST_F(TokenizerFiles, Bytes) {
  auto tokenizer = openTokenizer("bytes");
  ASSERT_OK(tokenizer);
  EXPECT_EQ((*tokenizer)->vocabulary(), 256U);
  const std::string text(40000, '\xe9');
  const auto ids = (*tokenizer)->encode(text);
  EXPECT_EQ(ids, std::vector<uint32_t>(40000, 0xe9));
  EXPECT_EQ((*tokenizer)->decode(ids), text);
  EXPECT_EQ((*tokenizer)->bytesOf(256), "");
  EXPECT_EQ((*tokenizer)->findToken("\n"), 10U);
  EXPECT_EQ((*tokenizer)->findToken("<|endoftext|>"), std::nullopt);
}

} // namespace
} // namespace trainc
