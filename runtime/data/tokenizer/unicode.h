// UTF-8, and what Unicode says of a character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainc {

/// What stands for a space in many vocabularies.
inline constexpr std::string_view kMeta = "\u2581";
inline constexpr uint32_t kMetaCharacter = 0x2581;

bool isLetter(uint32_t character); ///< \p{L}
bool isMark(uint32_t character);   ///< \p{M}
bool isSpace(uint32_t character);  ///< White_Space

/// How many bytes at the start of `text` are UTF-8.
size_t utf8Prefix(std::string_view text);
/// How many bytes at the start of `text` are not: up to the first character, or the end.
size_t invalidPrefix(std::string_view text);
/// Where the last character of `text` (UTF-8, not empty) begins.
size_t lastCharacter(std::string_view text);
/// Bytes at the end of `text` that more bytes could make a character of; 0 to 3.
size_t unfinishedBytes(std::string_view text);

/// Appends the UTF-8 form of a code point (at most 10FFFF, no surrogate).
void appendUtf8(uint32_t codePoint, std::string &text);

} // namespace trainc
