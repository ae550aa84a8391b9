#include "base/plain_text.h"

#include <gtest/gtest.h>

namespace trainc {
namespace {

using namespace std::string_literals;

/// A character in UTF-8, by the definition and not by the decoder.
std::string utf8(uint32_t c) {
  const auto tail = [c](int shift) { return static_cast<char>(0x80 | ((c >> shift) & 0x3f)); };
  if (c < 0x80)
    return {static_cast<char>(c)};
  if (c < 0x800)
    return {static_cast<char>(0xc0 | c >> 6), tail(0)};
  if (c < 0x10000)
    return {static_cast<char>(0xe0 | c >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | c >> 18), tail(12), tail(6), tail(0)};
}

TEST(PlainText, EveryCharacterIsReadAsItIs) {
  for (uint32_t c = 0; c <= 0x10ffff; ++c) {
    const std::string text = utf8(c);
    size_t position = 0;
    const std::optional<uint32_t> read = nextCharacter(text, position);
    const bool surrogate = c >= 0xd800 && c < 0xe000;
    ASSERT_EQ(read, surrogate ? std::nullopt : std::optional(c));
    ASSERT_EQ(position, surrogate ? 1 : text.size());
  }
}

TEST(PlainText, WhatIsNoUtf8IsNotRead) {
  for (const std::string &text :
       {"\x80"s, "\xbf"s, "\xc0\x80"s, "\xc1\xbf"s, "\xc3"s, "\xe0\x9f\xbf"s, "\xe2\x82"s,
        "\xf0\x8f\xbf\xbf"s, "\xf4\x90\x80\x80"s, "\xf5\x80\x80\x80"s, "\xff"s, "\xc3("s}) {
    EXPECT_FALSE(isUtf8(text));
    EXPECT_FALSE(isPlainText("a" + text));
    EXPECT_FALSE(isUtf8(text + "a"));
  }
  EXPECT_TRUE(isUtf8(""));
}

TEST(PlainText, ControlCharactersOfBothSetsAreNone) {
  for (uint32_t c = 0; c < 0x100; ++c)
    EXPECT_EQ(isPlainText("a" + utf8(c)), !(c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0xad)) << c;
  EXPECT_FALSE(isPlainText(""));
}

/// Unicode's explicit directional formatting characters, from the standard's table.
TEST(PlainText, CharactersThatChangeDirectionAreInvisible) {
  size_t count = 0;
  for (uint32_t c = 0; c <= 0x10ffff; ++c)
    if (changesDirection(c)) {
      ++count;
      EXPECT_TRUE(isInvisible(c)) << c;
      EXPECT_FALSE(isPlainText("a" + utf8(c))) << c;
    }
  EXPECT_EQ(count, 12); // ALM, LRM, RLM, LRE, RLE, PDF, LRO, RLO, LRI, RLI, FSI, PDI
  EXPECT_TRUE(isPlainText("größe 模型 שם اسم नाम 🙂"));
}

TEST(PlainText, InvisibleCharactersAreSpelledOut) {
  EXPECT_EQ(printable("a\u202eb\u200bc\ufeff"), "a\\u202eb\\u200bc\\ufeff");
  EXPECT_EQ(printable("a\u00adb"), "a\\xadb");
  EXPECT_EQ(printable("\u2764\ufe0f"), "\u2764\\ufe0f") << "a heart in colour; without the selector in black";
  EXPECT_EQ(printable("a\U000e0041b"), "a\\U000e0041b");
}

TEST(PlainText, JsonKeepsItsMeaning) {
  EXPECT_EQ(printableJson("{\n \"größe 模型\": \"a\\u001bb\"\n}"), "{\n \"größe 模型\": \"a\\u001bb\"\n}");
  EXPECT_EQ(printableJson("\"\x7f\xc2\x9b\u202e\""), R"("\u007f\u009b\u202e")");
  EXPECT_EQ(printableJson("\"\U000e0041\""), R"("\udb40\udc41")") << "a pair in UTF-16";
}

TEST(PlainText, WhatATerminalWouldObeyIsSpelledOut) {
  EXPECT_EQ(printable("h.3.ln_1: größe 模型"), "h.3.ln_1: größe 模型");
  EXPECT_EQ(printable("\x1b[2J\a\n\t\x7f"), "\\x1b[2J\\x07\\x0a\\x09\\x7f");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "2Jb"),
            "a\\x9b2Jb")
      << "C1";
  EXPECT_EQ(printable("a\x9b"
                      "2Jb\xff"),
            "a\\x9b2Jb\\xff")
      << "no UTF-8";
  EXPECT_EQ(printable("a\0b"s), "a\\x00b");
  EXPECT_EQ(printable("a\n\tb\r", "\n\t"), "a\n\tb\\x0d");
}

} // namespace
} // namespace trainc
