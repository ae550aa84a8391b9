// Messages about words that are not known: what there is, and what was probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// Returns the word of `known` that means the same as `word` elsewhere, such as cuda for gpu, or else the one
/// with the smallest edit distance without regard to case, or else one that begins with `word`; empty if none
/// is similar.
std::string findNearest(std::string_view word, const std::vector<std::string> &known);

/// Returns "a, b and c"; `last` is the word before the last one.
std::string listWords(const std::vector<std::string> &words, std::string_view last = "and");

/// Returns "expected a, b or c, found 'word'", and "; did you mean 'b'?" if a known word is similar, or
/// `word` begins with it. `known` has at least one word.
std::string describeUnknownWord(std::string_view word, const std::vector<std::string> &known);

} // namespace trainc
