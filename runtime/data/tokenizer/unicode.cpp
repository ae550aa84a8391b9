#include "runtime/data/tokenizer/unicode.h"

#include "base/plain_text.h"
#include "runtime/data/tokenizer/unicode_classes.h"

#include <algorithm>
#include <cstring>
#include <utf8proc.h>

namespace trainc {

namespace {

utf8proc_category_t categoryOf(uint32_t character) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(character));
}

bool contains(std::span<const CharacterRange> ranges, uint32_t character) {
  const auto after = std::ranges::upper_bound(ranges, character, {}, &CharacterRange::first);
  return after != ranges.begin() && character <= std::prev(after)->last;
}

bool isAscii(char byte) { return static_cast<unsigned char>(byte) < 0x80; }

/// Skips ASCII, eight bytes at a time.
size_t skipAscii(std::string_view text, size_t position) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  for (uint64_t bytes; text.size() - position >= sizeof(bytes); position += sizeof(bytes)) {
    std::memcpy(&bytes, text.data() + position, sizeof(bytes));
    if ((bytes & kHighBits) != 0)
      break;
  }
  while (position < text.size() && isAscii(text[position]))
    ++position;
  return position;
}

} // namespace

bool isLetter(uint32_t character) {
  const utf8proc_category_t category = categoryOf(character);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool isMark(uint32_t character) { return contains(markRanges(), character); }

bool isNonspacingMark(uint32_t character) { return contains(nonspacingMarkRanges(), character); }

bool isOther(uint32_t character) { return contains(otherRanges(), character); }

bool isHanOfBert(uint32_t character) { return contains(hanRanges(), character); }

bool isSpace(uint32_t character) {
  const utf8proc_category_t category = categoryOf(character);
  return (category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP) ||
         (character >= '\t' && character <= '\r') || character == 0x85;
}

size_t utf8Prefix(std::string_view text) {
  for (size_t position = 0;;) {
    position = skipAscii(text, position);
    const size_t begin = position;
    if (position == text.size() || !nextCharacter(text, position))
      return begin;
  }
}

size_t invalidPrefix(std::string_view text) {
  for (size_t position = 0; position < text.size();)
    if (const size_t begin = position; nextCharacter(text, position))
      return begin;
  return text.size();
}

size_t lastCharacter(std::string_view text) {
  size_t position = text.size() - 1;
  while (position > 0 && (static_cast<unsigned char>(text[position]) & 0xC0) == 0x80)
    --position;
  return position;
}

size_t unfinishedBytes(std::string_view text) {
  for (size_t bytes = 1; bytes <= std::min<size_t>(3, text.size()); ++bytes) {
    const auto lead = static_cast<unsigned char>(text[text.size() - bytes]);
    if ((lead & 0xC0) == 0x80)
      continue;
    const size_t whole = lead >= 0xF0 && lead <= 0xF4   ? 4
                         : lead >= 0xE0 && lead <= 0xEF ? 3
                         : lead >= 0xC2 && lead <= 0xDF ? 2
                                                        : 1;
    return bytes < whole ? bytes : 0;
  }
  return 0;
}

void appendUtf8(uint32_t codePoint, std::string &text) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(codePoint), bytes);
  text.append(reinterpret_cast<const char *>(bytes), static_cast<size_t>(count));
}

} // namespace trainc
