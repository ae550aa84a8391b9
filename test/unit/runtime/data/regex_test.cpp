#include "runtime/data/tokenizer/regex.h"

#include "runtime/data/philox.h"
#include "runtime/data/tokenizer/added_tokens.h"
#include "runtime/data/tokenizer/byte_alphabet.h"
#include "runtime/data/tokenizer/oniguruma.h"
#include "runtime/data/tokenizer/unicode.h"
#include "test/unit/runtime/data/support.h"

#include <algorithm>

namespace trainc {
namespace {

using namespace test;

Status compile(const std::string &pattern) {
  return Regex::compileOniguruma("t.json: Split", pattern).status();
}

TEST(Regex, NamesWhatIsNotSupported) {
  for (const auto &[pattern, construct, byte] : std::vector<std::tuple<std::string, std::string, int>>{
           {"a[[:alpha:]]", "'[:' in a class", 2},
           {"[a[^bc]]", "'[^' in a class", 2},
           {"[a-[bc]]", "such a class within a class", 3},
           {"[a[-bc]]", "such a class within a class", 2},
           {"[a[bc-]]", "'-]' in a class within a class", 6},
           {"[a[bc]-z]", "'-' after a class within a class", 6},
           {"[a&&b]", "'&&' in a class", 2},
           {"[\\W]", "'\\W' in a class", 1},
           {"a(?i)b", "'(?i)'", 1},
           {"(?x) a", "'(?x'", 0},
           {"(?~a)", "'(?~'", 0},
           {"(*FAIL)", "'(*'", 0},
           {"(a)\\1", "'\\1'", 3},
           {"\\k<a>", "'\\k'", 0},
           {"\\X", "'\\X'", 0},
           {"a{2}?", "'{2}?'", 1},
           {"\\xC3\\xA9", "'\\xC3\\'", 0},
           {"\\p{Script=Han}", "'\\p{Script=Han}'", 0},
           {"a\\", "'\\'", 1}})
    EXPECT_EQ(compile(pattern).message(), fmt::format("t.json: Split: the pattern {} has {} at byte {}, "
                                                      "which is not supported; write it in another way",
                                                      pattern, construct, byte));
}

TEST(Regex, TakesLongNamesOfProperties) {
  // Places where `tokenizers` 0.22 splits with each pattern.
  const std::string text = "aB1\u0660$.+ \u2160_\u0301\u4e00";
  for (const auto &[pattern, matches] :
       std::initializer_list<std::pair<const char *, std::vector<std::string>>>{
           {"\\p{Letter}", {"a", "B", "\u4e00"}},
           {"\\p{Alpha}", {"a", "B", "\u2160", "\u4e00"}},
           {"\\p{Digit}", {"1", "\u0660"}},
           {"\\p{decimal number}", {"1", "\u0660"}},
           {"\\p{lu}", {"B"}},
           {"\\p{Punct}", {".", "_"}},
           {"\\p{^any}", {}},
           {"\\P{Any}", {}},
           {"\\p{han}", {"\u4e00"}}}) {
    const auto regex = Regex::compileOniguruma("t.json: Split", pattern);
    ASSERT_OK(regex);
    std::vector<std::string> found;
    Regex::Match match{};
    Status status;
    for (size_t at = 0; regex->find(text, at, match, status) == Regex::Found::kMatch; at = match.end)
      found.push_back(text.substr(match.begin, match.end - match.begin));
    ASSERT_OK(status);
    EXPECT_EQ(found, matches) << pattern;
  }
}

TEST(Regex, SaysWhereAPatternIsWrong) {
  EXPECT_INVALID(compile("a(b"),
                 "t.json: Split: the pattern a(b is wrong near its end '': missing closing parenthesis");
  EXPECT_INVALID(compile("a**b"), "t.json: Split: the pattern a**b is wrong near its end '*b': quantifier "
                                  "does not follow a repeatable item");
  EXPECT_INVALID(compile("\\p{Nothing}x"),
                 "t.json: Split: the pattern \\p{Nothing}x is wrong: unknown property after \\P or \\p");
}

TEST(Regex, EndsPatternsThatTakeTooLong) {
  const auto regex = Regex::compileOniguruma("t.json: Split", "(x+x+)+y");
  ASSERT_OK(regex);
  Regex::Match match{};
  Status status;
  EXPECT_EQ(regex->find(std::string(1 << 20, 'x'), 0, match, status), Regex::Found::kError);
  EXPECT_INVALID(
      status,
      "t.json: Split: the pattern (x+x+)+y takes too long or too much memory on this text (match limit "
      "exceeded), near 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'; simplify it, or cut the text into "
      "shorter lines");
}

TEST(Regex, EndsSearchesThatTakeTooLongTogether) {
  // Each search takes about a million steps, a tenth of the limit.
  const auto regex = Regex::compileOniguruma("t.json: Split", "(x?){18}x{18}y");
  ASSERT_OK(regex);
  const std::string text(1 << 20, 'x');
  Status status;
  size_t parts = 0;
  EXPECT_FALSE(regex->forEachPart(text, status, [&](size_t, size_t, bool) { return ++parts > 0; }));
  EXPECT_EQ(parts, 0U);
  EXPECT_THAT(status.message(),
              testing::ContainsRegex("takes too long or too much memory on this text .[5-9] s for 1048576 "
                                     "bytes., near 'xxx"));
}

TEST(Regex, FindsMatchesFarAway) {
  const auto regex = Regex::compileOniguruma("t.json: Split", "(?<=\u00e9)b+|^c");
  ASSERT_OK(regex);
  Regex::Match match{};
  Status status;
  for (size_t length = 1; length < 200; ++length) {
    std::string text(length % 2, 'a'); // so that characters of two bytes begin at even and odd offsets
    for (size_t i = 0; i < length; ++i)
      text += "\u00e9";
    ASSERT_EQ(regex->find(text + "bb", 0, match, status), Regex::Found::kMatch);
    EXPECT_EQ(match.begin, text.size());
    ASSERT_EQ(regex->find(text, 0, match, status), Regex::Found::kNothing);
  }
}

TEST(Regex, LiteralsStandForThemselves) {
  const std::string text("a.*\0[\\E\u00e9", 9);
  const auto regex = Regex::literal("t.json", text);
  ASSERT_OK(regex);
  EXPECT_TRUE(regex->matches("x" + text + "x"));
  EXPECT_FALSE(regex->matches(std::string("ab*\0[\\E\u00e9", 9)));
}

TEST(Unicode, FindsWhatIsNoUtf8) {
  for (const std::string text :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xC3", "\xE4\xBD", "\xF0\x9F\x98"}) {
    EXPECT_EQ(utf8Prefix("0123456789\u00e9" + text + "x"), 12U);
    EXPECT_EQ(invalidPrefix(text + "\u00e9"), text.size());
    EXPECT_EQ(invalidPrefix(text), text.size());
  }
  EXPECT_EQ(utf8Prefix("\U0001f600\u4f60!"), 8U);
  EXPECT_EQ(utf8Prefix(""), 0U);
}

TEST(Unicode, KnowsUnfinishedCharacters) {
  const std::string smiley = "\U0001f600";
  for (const size_t bytes : {1, 2, 3})
    EXPECT_EQ(unfinishedBytes("a" + smiley.substr(0, bytes)), bytes);
  EXPECT_EQ(unfinishedBytes(smiley), 0U);
  EXPECT_EQ(unfinishedBytes("\xE4\xBD"), 2U);
  EXPECT_EQ(unfinishedBytes("\xC3"), 1U);
  for (const char *text : {"", "a", "\u00e9", "\x80\x80\x80\x80", "\xFF", "\xC1"})
    EXPECT_EQ(unfinishedBytes(text), 0U) << text;
}

TEST(Unicode, ClassifiesCharacters) {
  EXPECT_TRUE(isLetter('z') && isLetter(0x4e00) && isLetter(0x1c5) && !isLetter(0x301) && !isLetter('1'));
  EXPECT_TRUE(isMark(0x301) && isMark(0x20dd) && !isMark('a'));
  for (const int space : {0x20, 0x9, 0xb, 0xd, 0x85, 0xa0, 0x1680, 0x2003, 0x2028, 0x2029, 0x202f, 0x3000})
    EXPECT_TRUE(isSpace(static_cast<uint32_t>(space))) << space;
  for (const int other : {0x1c, 0x180e, 0x200b, 0xfeff, 0x5f})
    EXPECT_FALSE(isSpace(static_cast<uint32_t>(other))) << other;
}

TEST(Unicode, WritesWhatItReads) {
  for (const uint32_t point :
       {0x41U, 0x7FU, 0x80U, 0x7FFU, 0x800U, 0xD7FFU, 0xE000U, 0xFFFFU, 0x10000U, 0x10FFFFU}) {
    std::string text;
    appendUtf8(point, text);
    EXPECT_EQ(utf8Prefix(text), text.size());
    EXPECT_EQ(lastCharacter("\u00e9" + text), 2U);
  }
}

TEST(ByteAlphabet, IsGpt2s) {
  EXPECT_EQ(inByteAlphabet(" \nA\xAD"), "ĠĊA\u0143");
  EXPECT_EQ(bytesOfToken("Ġthe"), " the");
  EXPECT_EQ(bytesOfToken("Ã©"), "é");
  EXPECT_EQ(bytesOfToken("a b"), std::nullopt);
  EXPECT_EQ(bytesOfToken("\u0144"), std::nullopt);
}

/// A long text is searched in parts, and the search has one beginning.
TEST(Regex, TheStartOfASearchDoesNotMove) {
  const auto regex = Regex::compileOniguruma("t.json: Split", R"(\Gb)");
  ASSERT_OK(regex);
  EXPECT_TRUE(regex->matches("b"));
  EXPECT_FALSE(regex->matches(std::string(16, 'a') + "b"));
}

TEST(AddedTokens, LeftmostThenLongest) {
  const AddedTokens tokens({{"<a", 1},
                            {"<ab>", 2},
                            {"b>", 3},
                            {"<s>", 4, false, true, true},
                            {"one", 5, false, false, false, true}});
  const auto find = [&](std::string_view text) {
    const auto match = AddedTokens::Search(tokens, text).next();
    return match ? fmt::format("{} [{}, {})", match->id, match->begin, match->end) : "none";
  };
  EXPECT_EQ(find("x<ab>"), "2 [1, 5)");
  EXPECT_EQ(find("x<ab "), "1 [1, 3)");
  EXPECT_EQ(find("ab>"), "3 [1, 3)");
  EXPECT_EQ(find("x \u3000<s>\n\u2003y"), "4 [1, 12)");
  EXPECT_EQ(find(" <s>"), "4 [0, 4)");
  EXPECT_EQ(find("x <"), "none");
  EXPECT_EQ(find("\xE3\x80<s>\xE3\x80"), "4 [2, 5)"); // half a space is none
  EXPECT_EQ(find("ones \u00e9one on_one one\u0301 <one>"), "5 [25, 28)");
  EXPECT_FALSE(AddedTokens::Search(AddedTokens({}), "x").next().has_value());
}

TEST(AddedTokens, AreThoseOfASearchAtEachPosition) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    auto random = [&, drawn = 0U](uint32_t below) mutable {
      return philox4x32({drawn++, seed, 0, 0}, {3, 0})[0] % below;
    };
    auto letters = [&](size_t size) {
      std::string text;
      while (text.size() < size)
        text += static_cast<char>('a' + random(2));
      return text;
    };
    std::vector<AddedToken> tokens;
    for (uint32_t i = 0, count = 1 + random(12); i < count; ++i)
      tokens.push_back({letters(1 + random(6)), i});
    const std::string text = letters(300);
    const AddedTokens set(tokens);
    AddedTokens::Search search(set, text);
    for (size_t from = 0; from < text.size();) {
      const AddedToken *expected = nullptr;
      size_t at = from;
      for (; at < text.size() && !expected; ++at)
        for (const AddedToken &token : tokens)
          if (text.compare(at, token.content.size(), token.content) == 0 &&
              (!expected || token.content.size() > expected->content.size()))
            expected = &token;
      const auto found = search.next();
      ASSERT_EQ(found.has_value(), expected != nullptr) << text << " from " << from;
      if (!expected)
        break;
      ASSERT_EQ(found->begin, at - 1);
      ASSERT_EQ(found->id, expected->id) << text << " from " << from;
      from = found->end;
    }
  }
}

/// A time that grows with the square of a token's length would be minutes.
TEST(AddedTokens, LongTokensAreFoundInTheTimeOfShortOnes) {
  const size_t length = 200'000;
  const AddedTokens tokens(
      {{std::string(length, 'a') + "b", 1}, {"a", 2}, {"x" + std::string(length, 'a'), 3}});
  const std::string text = std::string(3 * length, 'a') + "b" + std::string(length, 'a');
  AddedTokens::Search search(tokens, text);
  std::vector<uint32_t> ids;
  while (const auto match = search.next())
    ids.push_back(match->id);
  EXPECT_EQ(ids.size(), 3 * length + 1);
  EXPECT_EQ(ids[2 * length], 1U);
  EXPECT_EQ(std::ranges::count(ids, 2U), 3 * length);
}

} // namespace
} // namespace trainc
