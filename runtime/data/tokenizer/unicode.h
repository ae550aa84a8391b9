// UTF-8, and Unicode properties of characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainc {

/// Character that represents a space in many vocabularies.
inline constexpr std::string_view kMeta = "\u2581";
inline constexpr uint32_t kMetaCharacter = 0x2581;

bool isLetter(uint32_t character); ///< \p{L}
bool isMark(uint32_t character);   ///< what StripAccents removes (unicode_classes.h)
bool isSpace(uint32_t character);  ///< White_Space
// Classes of BertNormalizer (unicode_classes.h).
bool isNonspacingMark(uint32_t character);
bool isOther(uint32_t character);
bool isHanOfBert(uint32_t character);

/// Length of the longest prefix of `text` that is valid UTF-8.
size_t utf8Prefix(std::string_view text);
/// Length of the invalid prefix of `text`, up to the first valid character or the end.
size_t invalidPrefix(std::string_view text);
/// Offset of the last character of `text` (UTF-8, not empty).
size_t lastCharacter(std::string_view text);
/// Length of an incomplete character at the end of `text`; 0 to 3.
size_t unfinishedBytes(std::string_view text);

/// Appends the UTF-8 form of a code point (at most 10FFFF, no surrogate).
void appendUtf8(uint32_t codePoint, std::string &text);

} // namespace trainc
