// Classes of characters as Hugging Face's tokenizers know them, whatever version of Unicode the libraries
// here have.
#pragma once

#include <cstdint>
#include <span>

namespace trainc {

struct CharacterRange {
  uint32_t first, last;
};

/// Characters that Punctuation and BertPreTokenizer split at, in ascending order.
std::span<const CharacterRange> punctuationRanges();
/// Characters that StripAccents removes, in ascending order.
std::span<const CharacterRange> markRanges();
/// Marks that BertNormalizer removes with strip_accents, in ascending order.
std::span<const CharacterRange> nonspacingMarkRanges();
/// Characters that BertNormalizer removes with clean_text, in ascending order: control and format characters,
/// private ones, U+FFFD.
std::span<const CharacterRange> otherRanges();
/// Characters that BertNormalizer puts spaces around with handle_chinese_chars, in ascending order.
std::span<const CharacterRange> hanRanges();

} // namespace trainc
