#include "runtime/data/tokenizer/split_pattern.h"

#include "runtime/data/tokenizer/added_tokens.h"
#include "runtime/data/tokenizer/byte_alphabet.h"
#include "runtime/data/tokenizer/unicode.h"
#include "test/unit/runtime/data/support.h"

namespace trainc {
namespace {

std::vector<std::string> split(SplitPattern pattern, std::string_view text) {
  std::vector<std::string> words;
  for (size_t position = 0; position < text.size();) {
    const size_t end = wordEnd(pattern, text, position);
    words.emplace_back(text.substr(position, end - position));
    position = end;
  }
  return words;
}

using testing::ElementsAre;

TEST(SplitPattern, Gpt2) {
  EXPECT_THAT(split(SplitPattern::kGpt2, "I'm  here's 42nd!?\n\n x"),
              ElementsAre("I", "'m", " ", " here", "'s", " 42", "nd", "!?", "\n\n", " x"));
  EXPECT_THAT(split(SplitPattern::kGpt2, "I'M\n\n\nx  "),
              ElementsAre("I", "'", "M", "\n\n", "\n", "x", "  "));
  EXPECT_THAT(split(SplitPattern::kGpt2, "été١٢ \u00a0你"), ElementsAre("été", "١٢", " ", "\u00a0", "你"));
}

TEST(SplitPattern, Llama3) {
  EXPECT_THAT(split(SplitPattern::kLlama3, "I'M 12345 (x)\r\n\n y ;\n"),
              ElementsAre("I", "'M", " ", "123", "45", " (", "x", ")\r\n\n", " y", " ;\n"));
  EXPECT_THAT(split(SplitPattern::kLlama3, "a  \n  \n  b\tc'\u017F"),
              ElementsAre("a", "  \n  \n", " ", " b", "\tc", "'\u017F"));
}

TEST(SplitPattern, Qwen2AndWhole) {
  EXPECT_THAT(split(SplitPattern::kQwen2, "a12 3"), ElementsAre("a", "1", "2", " ", "3"));
  EXPECT_THAT(split(SplitPattern::kWhole, "a b\n"), ElementsAre("a b\n"));
}

TEST(SplitPattern, KnowsOnlyItsRegexes) {
  EXPECT_EQ(findSplitPattern(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"),
            SplitPattern::kGpt2);
  EXPECT_EQ(findSplitPattern(R"(\w+)"), std::nullopt);
}

TEST(Unicode, ClassifiesCharacters) {
  const auto kind = [](std::string_view text) { return characterAt(text, 0).kind; };
  EXPECT_EQ(kind("z"), CharClass::kLetter);
  EXPECT_EQ(kind("\u4e00"), CharClass::kLetter);
  EXPECT_EQ(kind("\U00010d40"), CharClass::kNumber); // new in Unicode 16
  EXPECT_EQ(kind("\u00bd"), CharClass::kNumber);
  EXPECT_EQ(kind("\u3000"), CharClass::kSpace);
  EXPECT_EQ(kind("\x1c"), CharClass::kOther); // a space for Python's str.isspace, not for Unicode
  EXPECT_EQ(kind("\u200b"), CharClass::kOther);
  EXPECT_EQ(kind("\u0301"), CharClass::kOther);
}

TEST(Unicode, InvalidBytesStandAlone) {
  for (const std::string text :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xC3", "\xE4\xBD", "\xE4\xBDx", "\xF0\x9F\x98"}) {
    const Character character = characterAt(text, 0);
    EXPECT_EQ(character.bytes, 1U);
    EXPECT_EQ(character.codePoint, 0xFFFFFFFFU);
    EXPECT_EQ(character.kind, CharClass::kOther);
  }
}

TEST(Unicode, WritesWhatItReads) {
  for (const uint32_t point :
       {0x41U, 0x7FU, 0x80U, 0x7FFU, 0x800U, 0xD7FFU, 0xE000U, 0xFFFFU, 0x10000U, 0x10FFFFU}) {
    std::string text;
    appendUtf8(point, text);
    EXPECT_EQ(characterAt(text, 0).codePoint, point);
    EXPECT_EQ(characterAt(text, 0).bytes, text.size());
  }
}

TEST(ByteAlphabet, IsGpt2s) {
  EXPECT_EQ(byteAlphabet()[' '], 0x120U);
  EXPECT_EQ(byteAlphabet()['\n'], 0x10AU);
  EXPECT_EQ(byteAlphabet()['A'], uint32_t{'A'});
  EXPECT_EQ(byteAlphabet()[0xAD], 0x143U);
  EXPECT_EQ(bytesOfToken("Ġthe"), " the");
  EXPECT_EQ(bytesOfToken("Ã©"), "é");
  EXPECT_EQ(bytesOfToken("a b"), std::nullopt);
  EXPECT_EQ(bytesOfToken("\u0144"), std::nullopt);
}

TEST(AddedTokens, LeftmostThenLongest) {
  const AddedTokens tokens({{"<a", 1}, {"<ab>", 2}, {"b>", 3}, {"<s>", 4, false, true, true}});
  const auto find = [&](std::string_view text, size_t from = 0) {
    const auto match = tokens.find(text, from);
    return match ? fmt::format("{} [{}, {})", match->id, match->begin, match->end) : "none";
  };
  EXPECT_EQ(find("x<ab>"), "2 [1, 5)");
  EXPECT_EQ(find("x<ab "), "1 [1, 3)");
  EXPECT_EQ(find("x<ab>", 2), "3 [3, 5)");
  EXPECT_EQ(find("x \u3000<s>\n\u2003y"), "4 [1, 12)");
  EXPECT_EQ(find("x  <s>", 2), "4 [2, 6)");
  EXPECT_EQ(find("x <"), "none");
  EXPECT_FALSE(AddedTokens({}).find("x", 0).has_value());
}

} // namespace
} // namespace trainc
