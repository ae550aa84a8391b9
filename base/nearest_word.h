// Suggestions for misspelled words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// Returns the word of `known` with the smallest edit distance to `word`; empty if none is similar.
std::string findNearest(std::string_view word, const std::vector<std::string> &known);

} // namespace trainc
