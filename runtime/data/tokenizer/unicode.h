// UTF-8 and the three classes of characters that pre-tokenizers tell apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainc {

/// \p{L}, \p{N} and \s of Unicode 16; everything else, and every byte that is not UTF-8, is kOther.
enum class CharClass : uint8_t { kOther, kLetter, kNumber, kSpace };

/// One character of a text.
struct Character {
  uint32_t codePoint = 0; ///< 0xFFFFFFFF for a byte that is not UTF-8
  uint32_t bytes = 0;     ///< 1 to 4; 1 for a byte that is not UTF-8
  CharClass kind = CharClass::kOther;
};

/// The character at `position` (below text.size()). Overlong forms, surrogates, code points above 10FFFF and
/// truncated sequences are not UTF-8: each of their bytes is a character of its own, so that no byte of a
/// text is ever lost.
Character characterAt(std::string_view text, size_t position);

/// The last character of `text` (not empty).
Character lastCharacter(std::string_view text);

/// Appends the UTF-8 form of a code point (at most 10FFFF).
void appendUtf8(uint32_t codePoint, std::string &text);

} // namespace trainc
