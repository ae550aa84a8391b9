// Tokenizer files that are wrong or not supported: each message.
#include "runtime/data/tokenize.h"
#include "runtime/data/tokenizer/byte_alphabet.h"
#include "runtime/data/tokenizer/tokenizer.h"
#include "test/unit/runtime/data/support.h"
#include "test/unit/runtime/data/tokenizer_goldens.h"

#include <nlohmann/json.hpp>

namespace trainc {
namespace {

using namespace test;
using Json = nlohmann::json;

/// The 256 bytes, then "ab" and "abc".
Json vocabulary() {
  Json vocabulary;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const char value = static_cast<char>(byte);
    vocabulary[inByteAlphabet(std::string_view(&value, 1))] = byte;
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
  EXPECT_THAT(idsOf(**tokenizer, "abcab bc"), testing::ElementsAre(257, 256, ' ', 'b', 'c'));
  EXPECT_EQ((*tokenizer)->vocabulary(), 258U);
  EXPECT_EQ((*tokenizer)->decode(std::vector<uint32_t>{257}), "abc");
  EXPECT_EQ((*tokenizer)->decode(std::vector<uint32_t>{258}), "");
  EXPECT_EQ((*tokenizer)->findToken("ab"), 256U);
  EXPECT_EQ((*tokenizer)->findToken("xy"), std::nullopt);
}

/// As in Llama's file: `name` before a text.
Json beginsWith(const std::string &name, uint32_t id) {
  return {
      {"type", "TemplateProcessing"},
      {"single",
       {{{"SpecialToken", {{"id", name}, {"type_id", 0}}}}, {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}},
      {"special_tokens", {{name, {{"id", name}, {"ids", {id}}, {"tokens", {name}}}}}}};
}

TEST_F(TokenizerFiles, TokensGoAroundATextAsTheFileSays) {
  const auto bare = open("/post_processor", {{"type", "ByteLevel"}});
  ASSERT_OK(bare);
  EXPECT_THAT((*bare)->aroundText().before, testing::IsEmpty());
  const auto llama = open("/post_processor", beginsWith("ab", 256));
  ASSERT_OK(llama);
  EXPECT_THAT((*llama)->aroundText().before, testing::ElementsAre(256));
  EXPECT_THAT((*llama)->aroundText().after, testing::IsEmpty());
  EXPECT_THAT(idsOf(**llama, "a"), testing::ElementsAre('a')) << "which may be a piece of a text";
  const Json roberta = {{"type", "RobertaProcessing"}, {"cls", {"ab", 256}}, {"sep", {"abc", 257}}};
  const auto both =
      open("/post_processor", {{"type", "Sequence"}, {"processors", {roberta, beginsWith("a", 'a')}}});
  ASSERT_OK(both);
  EXPECT_THAT((*both)->aroundText().before, testing::ElementsAre('a', 256));
  EXPECT_THAT((*both)->aroundText().after, testing::ElementsAre(257));
}

TEST_F(TokenizerFiles, WhatPutsTokensAroundATextIsRefusedByName) {
  const auto messageOf = [&](const Json &processor) {
    return open("/post_processor", processor).status().message();
  };
  EXPECT_THAT(messageOf({{"type", "Other"}}),
              testing::HasSubstr(
                  ": post_processor: {\"type\":\"Other\"} is not supported; expected TemplateProcessing"));
  EXPECT_THAT(messageOf({{"type", "BertProcessing"}}), testing::HasSubstr("expected 'cls' and 'sep'"));
  EXPECT_THAT(messageOf(beginsWith("ab", 1 << 20)),
              testing::HasSubstr("post_processor: puts the id 1048576 around texts, which no token has"));
  Json unknown = beginsWith("ab", 256);
  unknown["special_tokens"] = Json::object();
  EXPECT_THAT(messageOf(unknown), testing::HasSubstr("expected 'single' with one Sequence A"));
  Json pair = beginsWith("ab", 256);
  pair["single"].push_back({{"Sequence", {{"id", "B"}}}});
  EXPECT_THAT(messageOf(pair), testing::HasSubstr("expected 'single' with one Sequence A"));
}

TEST_F(TokenizerFiles, EveryTextOfAFileGetsThem) {
  ASSERT_OK(
      open("/post_processor", {{"type", "RobertaProcessing"}, {"cls", {"ab", 256}}, {"sep", {"abc", 257}}}));
  for (const char *end : {"", "abc", "ab"}) { // a decoder must not repeat the end of a text
    const TokenizeOptions options{.tokenizer = path_,
                                  .texts = {folder_.write("1.txt", "x"), folder_.write("2.txt", "y")},
                                  .output = folder_ / "t.bin",
                                  .endToken = end,
                                  .progress = {}};
    ASSERT_OK(tokenize(options));
    const bool further = std::string_view(end) == "ab";
    EXPECT_EQ(readFile(folder_ / "t.bin"), further
                                               ? bytesOf<uint16_t>({256, 'x', 257, 256, 256, 'y', 257, 256})
                                               : bytesOf<uint16_t>({256, 'x', 257, 256, 'y', 257}));
  }
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
  EXPECT_THAT(idsOf(**tokenizer, "a<é>b"), testing::ElementsAre('a', 300, 'b'));
  EXPECT_EQ((*tokenizer)->vocabulary(), 301U);
  EXPECT_EQ((*tokenizer)->decode(std::vector<uint32_t>{300}), "<é>");
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
      open("/normalizer", {{"type", "Precompiled"}}),
      path_ + ": normalizer: {\"type\":\"Precompiled\"} is not supported; expected NFC, NFD, NFKC, NFKD, "
              "Lowercase, StripAccents, Prepend, Replace, or a Sequence of these");
  EXPECT_INVALID(
      open("/normalizer", {{"type", "Replace"}, {"content", "x"}, {"pattern", {{"String", ""}}}}),
      path_ + ": normalizer: {\"content\":\"x\",\"pattern\":{\"String\":\"\"},\"type\":\"Replace\"} is not "
              "supported; expected a 'pattern' with a 'Regex' or a 'String' that is not empty");
  EXPECT_INVALID(
      open("/decoder", {{"type", "Metaspace"}}),
      path_ +
          ": decoder: {\"type\":\"Metaspace\"} is not supported; expected ByteLevel, as in pre_tokenizer");
}

TEST_F(TokenizerFiles, NamesUnsupportedPreTokenizers) {
  const auto refused = [&](Json step, const std::string &piece, const std::string &expected) {
    const std::string found = step.dump();
    EXPECT_INVALID(open("/pre_tokenizer", std::move(step)), path_ + ": pre_tokenizer" + piece + ": " + found +
                                                                " is not supported; expected " + expected);
  };
  refused(
      {{"type", "UnicodeScripts"}}, "",
      "ByteLevel, Split, Metaspace, Whitespace, WhitespaceSplit, Punctuation, Digits, CharDelimiterSplit, "
      "BertPreTokenizer, or a Sequence of these");
  const std::string behaviors =
      "the behavior Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous";
  refused({{"type", "Split"}, {"behavior", "Kept"}}, ": Split", behaviors);
  refused({{"type", "Punctuation"}, {"behavior", "Kept"}}, ": Punctuation", behaviors);
  refused({{"type", "Split"}, {"behavior", "Isolated"}}, ": Split",
          "a 'pattern' with a 'Regex' or a 'String' that is not empty");
  refused({{"type", "Metaspace"}, {"replacement", "__"}}, ": Metaspace",
          "a 'replacement' of one character and the 'prepend_scheme' always, first or never");
  refused({{"type", "CharDelimiterSplit"}}, ": CharDelimiterSplit", "a 'delimiter' of one character");
  const Json byteLevel = {{"type", "ByteLevel"}};
  EXPECT_INVALID(open("/pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {byteLevel, byteLevel}}}),
                 path_ +
                     ": pre_tokenizer: {\"type\":\"ByteLevel\"} is not supported; expected one ByteLevel");
  EXPECT_INVALID(
      open("/pre_tokenizer",
           {{"type", "Split"}, {"pattern", {{"Regex", "(a)\\1"}}}, {"behavior", "Isolated"}}),
      path_ +
          ": pre_tokenizer: Split: the pattern (a)\\1 has '\\1' at byte 3, which is not supported; write it "
          "in another way");
}

/// A vocabulary of characters: nothing of a text may be lost, and decoders run token by token.
TEST_F(TokenizerFiles, VocabulariesOfCharacters) {
  const std::string lost =
      path_ + ": model: a character that the vocabulary lacks would be lost; expected an 'unk_token', "
              "'byte_fallback' with the tokens <0x00> to <0xFF>, or a pre_tokenizer ByteLevel";
  EXPECT_INVALID(open("/pre_tokenizer", nullptr), lost);
  Json json = goodJson();
  json["pre_tokenizer"] = nullptr;
  json["model"]["byte_fallback"] = true;
  folder_.write("tokenizer.json", json.dump());
  EXPECT_INVALID(openTokenizer(path_), lost);
  json["model"]["unk_token"] = "<unk>";
  folder_.write("tokenizer.json", json.dump());
  EXPECT_INVALID(openTokenizer(path_), path_ + ": model.unk_token: '<unk>' is not in the vocabulary");
  json["model"]["unk_token"] = "a";
  const std::string decoders =
      "Replace by String, ByteFallback, Metaspace, Strip, Fuse, or a Sequence of these, with "
      "ByteFallback behind Replace and nothing but Strip behind it and behind Fuse";
  const Json fallback = {{"type", "ByteFallback"}};
  const Json fuse = {{"type", "Fuse"}};
  for (const Json &wrong : {Json{{"type", "WordPiece"}},
                            Json{{"type", "Replace"}, {"pattern", {{"Regex", "x"}}}, {"content", ""}},
                            fallback, Json{{"type", "Strip"}, {"content", " "}, {"start", 0}, {"stop", 1}},
                            Json{{"type", "Strip"}, {"content", "  "}}}) {
    json["decoder"] = {{"type", "Sequence"}, {"decoders", {fuse, wrong}}};
    folder_.write("tokenizer.json", json.dump());
    EXPECT_INVALID(openTokenizer(path_),
                   path_ + ": decoder: " + wrong.dump() + " is not supported; expected " + decoders);
  }
}

/// A pattern that takes too long is an error of encoding.
TEST_F(TokenizerFiles, PatternsThatTakeTooLong) {
  auto tokenizer =
      open("/pre_tokenizer",
           {{"type", "Sequence"},
            {"pretokenizers",
             {{{"type", "Split"}, {"pattern", {{"Regex", "(x+x+)+[yz]"}}}, {"behavior", "Isolated"}},
              {{"type", "ByteLevel"}}}}});
  ASSERT_OK(tokenizer);
  EXPECT_THAT(idsOf(**tokenizer, "xxxy"), testing::SizeIs(5));
  const auto ids = (*tokenizer)->encode("<" + std::string(100, 'x') + ">");
  ASSERT_FALSE(ids.ok());
  EXPECT_EQ(ids.status().exitCode(), 2);
  EXPECT_THAT(ids.status().message(),
              testing::StartsWith(path_ + ": pre_tokenizer: Split: the pattern (x+x+)+[yz] takes too long"));
}

TEST_F(TokenizerFiles, RefusesDamagedJson) {
  folder_.write("tokenizer.json", "{\"model\": [1, }");
  const auto damaged = openTokenizer(path_);
  ASSERT_FALSE(damaged.ok());
  EXPECT_THAT(damaged.status().message(), testing::StartsWith(path_ + ":1:15: not JSON: syntax error"));
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
    EXPECT_THAT(idsOf(**tokenizer, "abc<|endoftext|>"), testing::ElementsAre(257, 258));
  }
  folder_.write("merges.txt", "#version: 0.2\na b\nabc");
  EXPECT_INVALID(openTokenizer(vocabPath),
                 mergesPath + ":3: expected two tokens with one space between them, found 'abc'");
}

TEST_F(TokenizerFiles, RefusesWhatIsNoTokenizer) {
  EXPECT_INVALID(openTokenizer("gpt2"), "--tokenizer=gpt2: no such file or folder; expected 'bytes', a "
                                        "tokenizer.json, a vocab.json or merges.txt, or their folder");
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
  const auto ids = idsOf(**tokenizer, text);
  EXPECT_EQ(ids, std::vector<uint32_t>(40000, 0xe9));
  EXPECT_EQ((*tokenizer)->decode(ids), text);
  EXPECT_EQ((*tokenizer)->decode(std::vector<uint32_t>{256}), "");
  EXPECT_EQ((*tokenizer)->findToken("\n"), 10U);
  EXPECT_EQ((*tokenizer)->findToken("<|endoftext|>"), std::nullopt);
}

} // namespace
} // namespace trainc
