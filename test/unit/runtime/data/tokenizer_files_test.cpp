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
  EXPECT_THAT(
      messageOf({{"type", "Other"}}),
      testing::HasSubstr(
          ": post_processor: Other {\"type\":\"Other\"} is not supported; expected TemplateProcessing"));
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
  const auto before = open("/note", "1.0");
  const auto after = open("/note", "1.1");
  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_NE((*before)->fingerprint(), (*after)->fingerprint());
}

TEST_F(TokenizerFiles, AddedTokensExtendTheVocabulary) {
  auto tokenizer = open("/added_tokens", {{{"id", 258}, {"content", "<é>"}}});
  ASSERT_OK(tokenizer);
  EXPECT_THAT(idsOf(**tokenizer, "a<é>b"), testing::ElementsAre('a', 258, 'b'));
  EXPECT_EQ((*tokenizer)->vocabulary(), 259U);
  EXPECT_EQ((*tokenizer)->decode(std::vector<uint32_t>{258}), "<é>");
  EXPECT_EQ((*tokenizer)->findToken("<é>"), 258U);
  EXPECT_TRUE((*tokenizer)->knows(258) && (*tokenizer)->knows(0) && !(*tokenizer)->knows(259));
}

/// The ids are those of Hugging Face's tokenizers 0.23.3 for these files.
TEST_F(TokenizerFiles, AddedTokensAreNumberedInTheirOrder) {
  const auto idsWith = [&](Json added) {
    auto tokenizer = open("/added_tokens", std::move(added));
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
    return tokenizer.ok() ? idsOf(**tokenizer, "ab <x>ab<y>") : std::vector<uint32_t>();
  };
  const auto token = [](uint32_t id, const char *content) { return Json{{"id", id}, {"content", content}}; };
  using testing::ElementsAre;
  EXPECT_THAT(idsWith({token(300, "<x>"), token(301, "<y>")}), ElementsAre(256, 32, 258, 256, 259))
      << "a hole";
  EXPECT_THAT(idsWith({token(259, "<y>"), token(258, "<x>")}), ElementsAre(256, 32, 259, 256, 258));
  EXPECT_THAT(idsWith({token(300, "ab"), token(258, "<x>")}), ElementsAre(256, 32, 258, 256, 60, 121, 62))
      << "the vocabulary's own id";
  EXPECT_THAT(idsWith({token(258, "<x>"), token(259, "<x>"), token(260, "<y>")}),
              ElementsAre(256, 32, 258, 256, 259));
  EXPECT_THAT(idsWith({token(258, ""), token(259, "<x>")}), ElementsAre(256, 32, 258, 256, 60, 121, 62));
  EXPECT_THAT(idsWith({token(258, "<x>"), token(258, "<y>")}), ElementsAre(256, 32, 258, 256, 259));
}

TEST_F(TokenizerFiles, TheLongestAddedTokenIsFound) {
  Json added = Json::array();
  for (const char *content : {"<a", "<ab", "<abcd", "b", "\xc3\xa9", "<ab>"})
    added.push_back({{"id", 0}, {"content", content}});
  auto tokenizer = open("/added_tokens", added);
  ASSERT_OK(tokenizer);
  EXPECT_THAT(idsOf(**tokenizer, "<abc<abcd<ab><a<éb"),
              testing::ElementsAre(259, 'c', 260, 261, 258, '<', 233, 'b'));
}

/// The ids are those of Hugging Face's tokenizers for these files.
TEST_F(TokenizerFiles, AddedTokensAreFoundAmongStrippedSpaces) {
  const auto idsWith = [&](const Json &second, const std::string &text) {
    auto tokenizer = open("/added_tokens", {{{"id", 258}, {"content", "<r>"}, {"rstrip", true}}, second});
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
    return tokenizer.ok() ? idsOf(**tokenizer, text) : std::vector<uint32_t>();
  };
  using testing::ElementsAre;
  const Json space = {{"id", 259}, {"content", " "}}, tab = {{"id", 259}, {"content", "\t"}};
  EXPECT_THAT(idsWith(space, "<r> a"), ElementsAre(258, 259, 'a'));
  EXPECT_THAT(idsWith(space, "<r> \t a<r>"), ElementsAre(258, 259, '\t', 259, 'a', 258));
  EXPECT_THAT(idsWith(tab, "<r>\t a"), ElementsAre(258, 259, ' ', 'a'));
  EXPECT_THAT(idsWith(tab, "<r> \t a"), ElementsAre(258, 259, ' ', 'a'));
  EXPECT_THAT(idsWith(tab, "<r>  a"), ElementsAre(258, 'a'));
  Json stripping = space;
  stripping["lstrip"] = true;
  EXPECT_THAT(idsWith(stripping, "<r> a"), ElementsAre(258, 'a'));
  stripping = space;
  stripping["rstrip"] = true;
  EXPECT_EQ(idsWith(stripping, "<r>" + std::string(300000, ' ')).size(), 300001U) << "in linear time";
}

TEST_F(TokenizerFiles, NamesUnsupportedPieces) {
  EXPECT_INVALID(open("/model/type", "WordLevel"),
                 path_ + ": model: WordLevel is not supported; expected BPE or Unigram or WordPiece");
  EXPECT_INVALID(open("/version", "9.0"), path_ + ": version: \"9.0\" is not supported; expected \"1.0\"");
  EXPECT_INVALID(open("/model/dropout", 0.5), path_ + ": model.dropout: 0.5 is not supported; expected null");
  EXPECT_INVALID(open("/model/end_of_word_suffix", "</w>"),
                 path_ + ": model.end_of_word_suffix: \"</w>\" is not supported; expected null");
  EXPECT_INVALID(open("/model/continuing_subword_prefix", "##"),
                 path_ + ": model.continuing_subword_prefix: \"##\" is not supported; expected null");
  EXPECT_INVALID(open("/normalizer", {{"type", "Other"}}),
                 path_ +
                     ": normalizer: Other {\"type\":\"Other\"} is not supported; expected NFC, NFD, NFKC, "
                     "NFKD, Lowercase, StripAccents, Prepend, Replace, Strip, Precompiled, Nmt, "
                     "BertNormalizer, or a Sequence of these");
  EXPECT_INVALID(open("/normalizer", {{"type", "Replace"}, {"content", "x"}, {"pattern", {{"String", ""}}}}),
                 path_ + ": normalizer: Replace "
                         "{\"content\":\"x\",\"pattern\":{\"String\":\"\"},\"type\":\"Replace\"} is not "
                         "supported; expected a 'pattern' with a 'Regex' or a 'String' that is not empty");
  EXPECT_INVALID(open("/decoder", {{"type", "Metaspace"}}),
                 path_ + ": decoder: Metaspace {\"type\":\"Metaspace\"} is not supported; expected "
                         "ByteLevel, as in pre_tokenizer");
}

/// A long normalizer does not hide its type, nor that of the model.
TEST_F(TokenizerFiles, NamesTypesFirst) {
  const Json other = {{"type", "Other"}, {"map", std::string(800, 'A')}};
  EXPECT_THAT(open("/normalizer", other).status().message(),
              testing::StartsWith(path_ + ": normalizer: Other {\"map\""));
  Json json = goodJson();
  json["normalizer"] = other;
  json["model"] = {{"type", "Other"}};
  folder_.write("tokenizer.json", json.dump());
  EXPECT_INVALID(openTokenizer(path_), path_ + ": model: Other with the normalizer Other is not supported; "
                                               "expected BPE or Unigram or WordPiece");
}

/// The classes of Hugging Face's tokenizers are those of Unicode 8, which has no U+2E43 and U+0AFA; the ids
/// are its own.
TEST_F(TokenizerFiles, ClassesAreThoseOfUnicode8) {
  const Json byteLevel = {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"use_regex", false}};
  auto punctuation = open("/pre_tokenizer",
                          {{"type", "Sequence"}, {"pretokenizers", {{{"type", "Punctuation"}}, byteLevel}}});
  ASSERT_OK(punctuation);
  EXPECT_THAT(idsOf(**punctuation, "a\u2e43b"), testing::ElementsAre(32, 97, 0xe2, 0xb9, 0x83, 98));
  EXPECT_THAT(idsOf(**punctuation, "a\u166db"), testing::ElementsAre(32, 97, 32, 0xe1, 0x99, 0xad, 32, 98));
  auto accents = open("/normalizer", {{"type", "StripAccents"}});
  ASSERT_OK(accents);
  EXPECT_THAT(idsOf(**accents, "a\u0afa\u0301x"), testing::ElementsAre(97, 0xe0, 0xab, 0xba, 120));
}

TEST_F(TokenizerFiles, NamesUnsupportedPreTokenizers) {
  const auto refused = [&](Json step, const std::string &expected) {
    const std::string found = fmt::format("{} {}", step["type"].get<std::string>(), step.dump());
    EXPECT_INVALID(open("/pre_tokenizer", std::move(step)),
                   path_ + ": pre_tokenizer: " + found + " is not supported; expected " + expected);
  };
  refused(
      {{"type", "UnicodeScripts"}},
      "ByteLevel, Split, Metaspace, Whitespace, WhitespaceSplit, Punctuation, Digits, CharDelimiterSplit, "
      "BertPreTokenizer, or a Sequence of these");
  const std::string behaviors =
      "the behavior Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous";
  refused({{"type", "Split"}, {"behavior", "Kept"}}, behaviors);
  refused({{"type", "Punctuation"}, {"behavior", "Kept"}}, behaviors);
  refused({{"type", "Split"}, {"behavior", "Isolated"}},
          "a 'pattern' with a 'Regex' or a 'String' that is not empty");
  refused({{"type", "Metaspace"}, {"replacement", "__"}},
          "a 'replacement' of one character and the 'prepend_scheme' always, first or never");
  refused({{"type", "CharDelimiterSplit"}}, "a 'delimiter' of one character");
  const Json byteLevel = {{"type", "ByteLevel"}};
  EXPECT_INVALID(
      open("/pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {byteLevel, byteLevel}}}),
      path_ + ": pre_tokenizer: ByteLevel {\"type\":\"ByteLevel\"} is not supported; expected one ByteLevel");
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
      "Replace by String, ByteFallback, Metaspace, WordPiece, Strip, Fuse, or a Sequence of these, with "
      "ByteFallback after Replace and nothing but Strip after it and after Fuse";
  const Json fallback = {{"type", "ByteFallback"}};
  const Json fuse = {{"type", "Fuse"}};
  for (const Json &wrong : {Json{{"type", "WordPiece"}},
                            Json{{"type", "Replace"}, {"pattern", {{"Regex", "x"}}}, {"content", ""}},
                            fallback, Json{{"type", "Strip"}, {"content", " "}, {"start", 0}, {"stop", 1}},
                            Json{{"type", "Strip"}, {"content", "  "}}}) {
    json["decoder"] = {{"type", "Sequence"}, {"decoders", {fuse, wrong}}};
    folder_.write("tokenizer.json", json.dump());
    EXPECT_INVALID(openTokenizer(path_), path_ + ": decoder: " + wrong["type"].get<std::string>() + " " +
                                             wrong.dump() + " is not supported; expected " + decoders);
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
  Json json = goodJson();
  json["model"]["vocab"]["abc"] = 258;
  json["added_tokens"] = {{{"id", 259}, {"content", "<x>"}}};
  folder_.write("tokenizer.json", json.dump());
  EXPECT_INVALID(openTokenizer(path_),
                 path_ +
                     ": added_tokens: '<x>' gets the id 258, the next after a vocabulary of 258 tokens, as "
                     "Hugging Face numbers it, but 'abc' has it; give the vocabulary ids without holes");
}

/// Falcon, SmolLM2 and many others lack tokens for some bytes. The ids are those of Hugging Face's tokenizers
/// 0.23.3, which drops a byte that nothing stands for.
TEST_F(TokenizerFiles, AVocabularyMayLackBytes) {
  Json json = goodJson();
  json["model"]["vocab"].erase("\u0103"); // byte 3
  const auto openIt = [&] {
    folder_.write("tokenizer.json", json.dump());
    auto tokenizer = openTokenizer(path_);
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
    return std::move(*tokenizer);
  };
  auto tokenizer = openIt();
  EXPECT_THAT(idsOf(*tokenizer, "abc"), testing::ElementsAre(257));
  const std::string lacks = ": the vocabulary of " + path_ +
                            " has no token for the byte 0x03; Hugging Face drops it silently: remove it from "
                            "the text, or take another tokenizer";
  EXPECT_INVALID(tokenizer->encode("abc \x03"), "a text: byte 4" + lacks);
  EXPECT_INVALID(tokenizer->encode(std::string(100, 'x') + "\x03"), "a text: byte 100" + lacks);
  EXPECT_INVALID(tokenizer->encode("\xff\x03", "--generate"), "--generate: byte 1" + lacks);
  const std::string text = folder_.write("a.txt", std::string(100, '\n') + "a\x03");
  EXPECT_INVALID(tokenize({path_, {text}, folder_ / "t.bin", "", false, nullptr}),
                 text + ": byte 101" + lacks);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "t.bin"));
  json["model"]["unk_token"] = "ab";
  EXPECT_THAT(idsOf(*openIt(), "a\x03\x03"
                               "b"),
              testing::ElementsAre(97, 256, 256, 98));
  json["model"]["fuse_unk"] = true;
  EXPECT_THAT(idsOf(*openIt(), "a\x03\x03"
                               "b"),
              testing::ElementsAre(97, 256, 98));
  json["model"].erase("unk_token");
  json["model"]["byte_fallback"] = true;
  for (uint32_t byte = 0; byte < 256; ++byte)
    json["model"]["vocab"][fmt::format("<0x{:02X}>", byte)] = 300 + byte;
  EXPECT_THAT(idsOf(*openIt(), "a\x03"
                               "b"),
              testing::ElementsAre(97, 496, 431, 98))
      << "the bytes of its stand-in U+0103";
}

/// Short files that would make very long texts.
TEST_F(TokenizerFiles, ReplacementsOfTheEmptyTextAreRejected) {
  for (const char *pattern : {"", "a*", "x?", "(?=b)"})
    EXPECT_THAT(
        open("/normalizer", {{"type", "Replace"}, {"pattern", {{"Regex", pattern}}}, {"content", "#"}})
            .status()
            .message(),
        testing::HasSubstr("expected a pattern that does not match the empty text"))
        << pattern;
}

TEST_F(TokenizerFiles, NothingGrowsBeyondMeasure) {
  const Json doubling = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aa"}};
  Json all = Json::array();
  for (int i = 0; i < 40; ++i)
    all.push_back(doubling);
  auto tokenizer = open("/normalizer", {{"type", "Sequence"}, {"normalizers", all}});
  ASSERT_OK(tokenizer);
  EXPECT_THAT(idsOf(**tokenizer, "xyz"), testing::SizeIs(3));
  EXPECT_INVALID((*tokenizer)->encode("xa"), path_ + ": normalizer: makes more than 1088 bytes of 2 bytes of "
                                                     "text; expected at most 32 times as many");
  tokenizer =
      open("/normalizer",
           {{"type", "Replace"}, {"pattern", {{"Regex", "."}}}, {"content", std::string(100000, 'x')}});
  ASSERT_OK(tokenizer);
  EXPECT_THAT((*tokenizer)->encode(std::string(100000, 'a')).status().message(),
              testing::HasSubstr("makes more than 3201024 bytes of 100000"));

  Json pieces = Json::array();
  for (int i = 0; i < 40; ++i) {
    pieces.push_back({{"type", "Metaspace"}, {"replacement", i % 2 == 0 ? "p" : "q"}, {"split", false}});
    pieces.push_back({{"type", "Split"}, {"pattern", {{"Regex", "."}}}, {"behavior", "Isolated"}});
  }
  pieces.push_back({{"type", "ByteLevel"}});
  tokenizer = open("/pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", pieces}});
  ASSERT_OK(tokenizer);
  EXPECT_INVALID((*tokenizer)->encode("xa"),
                 path_ + ": pre_tokenizer: its steps make far more of 2 bytes of text; "
                         "expected words of about as many bytes");

  Json json = goodJson();
  json["pre_tokenizer"] = nullptr;
  json["model"]["unk_token"] = "a";
  json["decoder"] = {{"type", "Sequence"}, {"decoders", all}};
  folder_.write("tokenizer.json", json.dump());
  EXPECT_INVALID(openTokenizer(path_), path_ + ": decoder: makes more than 1048576 bytes of the token 'a'");

  Json ids = Json::array(), single = Json::array();
  for (int i = 0; i < 5000; ++i) {
    ids.push_back(97);
    single.push_back({{"SpecialToken", {{"id", "a"}}}});
  }
  single.push_back({{"Sequence", {{"id", "A"}}}});
  EXPECT_THAT(
      open("/post_processor", {{"type", "TemplateProcessing"},
                               {"single", single},
                               {"special_tokens", {{"a", {{"id", "a"}, {"ids", ids}, {"tokens", {"a"}}}}}}})
          .status()
          .message(),
      testing::HasSubstr("at most 65536 of them"));

  Json many = Json::array();
  for (int i = 0; i < 2000; ++i)
    many.push_back({{"type", "NFC"}});
  EXPECT_INVALID(open("/normalizer", {{"type", "Sequence"}, {"normalizers", many}}),
                 path_ + ": normalizer: expected fewer than 1001 steps, found more");
}

TEST_F(TokenizerFiles, ATokenTwiceInTheVocabularyIsAnError) {
  const std::string path = folder_.write("twice.json", R"({"model": {"vocab": {"a": 0, "b": 1, "a": 2}}})");
  EXPECT_INVALID(openTokenizer(path),
                 path + ": expected each name once, found 'model.vocab.a' twice; the file is damaged");
}

TEST_F(TokenizerFiles, LongRowsOfMarksAreOrderedQuickly) {
  constexpr int kMarks = 20000;
  auto tokenizer = open("/normalizer", {{"type", "NFC"}});
  ASSERT_OK(tokenizer);
  const auto repeated = [](std::string_view mark, int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text += mark;
    return text;
  };
  // An acute accent has a higher class than a cedilla, which composes with e. U+0F73 is two marks.
  for (const auto &[text, ordered] :
       {std::pair("e" + repeated("\u0301", kMarks) + repeated("\u0327", kMarks),
                  "\u0229" + repeated("\u0327", kMarks - 1) + repeated("\u0301", kMarks)),
        std::pair("x" + repeated("\u0f73", kMarks),
                  "x" + repeated("\u0f71", kMarks) + repeated("\u0f72", kMarks))})
    EXPECT_EQ(idsOf(**tokenizer, text), idsOf(**tokenizer, ordered));
}

TEST_F(TokenizerFiles, ManyAddedTokensAreFoundQuickly) {
  Json added = Json::array();
  std::string text;
  for (int i = 0; i < 20000; ++i) {
    added.push_back({{"id", 0}, {"content", fmt::format("<extra_id_{}>", i)}});
    text += fmt::format("<extra_id_{}> and ", i);
  }
  auto tokenizer = open("/added_tokens", added);
  ASSERT_OK(tokenizer);
  EXPECT_THAT(idsOf(**tokenizer, text), testing::SizeIs(20000 * 6));
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

TEST_F(TokenizerFiles, OpensTheVocabularyOfBert) {
  const std::string vocab = folder_.write("vocab.txt", "[PAD]\r\n[UNK]\n[CLS]\n[SEP]\na\n##b\nA\n\u4f60\n");
  const auto open = [&] {
    auto tokenizer = openTokenizer(folder_.path().string());
    EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().message();
    return std::move(*tokenizer);
  };
  using testing::ElementsAre;
  EXPECT_THAT(idsOf(*open(), "ab [SEP]\u00c1B a\u4f60!"), ElementsAre(4, 5, 3, 4, 5, 4, 7, 1));
  EXPECT_THAT(open()->aroundText().before, ElementsAre(2));
  EXPECT_THAT(open()->aroundText().after, ElementsAre(3));
  const uint64_t before = open()->fingerprint();
  folder_.write("tokenizer_config.json", R"({"do_lower_case": false, "tokenize_chinese_chars": false})");
  EXPECT_THAT(idsOf(*open(), "Ab \u00c1b a\u4f60"), ElementsAre(6, 5, 1, 1));
  EXPECT_NE(open()->fingerprint(), before);
  ASSERT_OK(openTokenizer(vocab));
  folder_.write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\nb\na\n");
  EXPECT_INVALID(openTokenizer(vocab),
                 vocab + ":6: the token 'a' is that of line 4, too; each may occur once");
  folder_.write("vocab.txt", "[UNK]\n\xff\n");
  EXPECT_INVALID(openTokenizer(vocab), vocab + ":2: expected a token in UTF-8, found '\\xff'");
  folder_.write("vocab.txt", "hello\n[UNK]\n");
  EXPECT_INVALID(openTokenizer(vocab),
                 vocab + ": expected BERT's vocabulary, a token per line, with [UNK], [CLS] "
                         "and [SEP]; found no [CLS]. Other tokenizers need a tokenizer.json");
}

TEST_F(TokenizerFiles, SaysHowToConvertSentencePiece) {
  const std::string model = folder_.write("spiece.model", "\x0a\x0e");
  for (const std::string &name : {model, folder_.path().string()})
    EXPECT_INVALID(openTokenizer(name),
                   model +
                       ": a model of SentencePiece is not supported; expected a tokenizer.json. Hugging "
                       "Face's transformers writes one: AutoTokenizer.from_pretrained('" +
                       folder_.path().string() + "').save_pretrained('DIR')");
}

TEST_F(TokenizerFiles, RefusesWhatIsNoTokenizer) {
  EXPECT_INVALID(
      openTokenizer("gpt2"),
      "--tokenizer=gpt2: no such file or folder; expected 'bytes', a "
      "tokenizer.json, a vocab.json or merges.txt, BERT's vocab.txt, their folder, or a .gguf file");
  EXPECT_INVALID(
      openTokenizer(folder_.path().string()),
      folder_.path().string() +
          ": expected a tokenizer.json, a vocab.json and a merges.txt, or BERT's vocab.txt in this folder");
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
