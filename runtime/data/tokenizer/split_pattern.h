// The regular expressions by which byte-level BPE tokenizers cut a text into words, written by hand.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace trainc {

/// A known pattern; each splits a text without gaps.
enum class SplitPattern {
  kWhole,  ///< no splitting
  kGpt2,   ///< GPT-2, and the ByteLevel pre-tokenizer of Hugging Face
  kLlama3, ///< Llama 3 (and GPT-4's cl100k): contractions in either case, newlines apart, digits by three
  kQwen2,  ///< as kLlama3, digits one by one
};

/// The pattern that the regular expression `regex` (as in a tokenizer.json) stands for; nothing for an
/// unknown one.
std::optional<SplitPattern> findSplitPattern(std::string_view regex);

/// The end of the word that begins at `position` (below text.size()). The end of `text` counts as the end of
/// input.
size_t wordEnd(SplitPattern pattern, std::string_view text, size_t position);

/// The last position in `text` between a letter and a space; 0 where there is none. All patterns but kWhole
/// end a word there, whatever comes before and after, and the words before are the same when the text ends
/// there.
size_t lastSpaceAfterLetter(std::string_view text);

} // namespace trainc
