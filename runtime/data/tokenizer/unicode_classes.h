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

} // namespace trainc
