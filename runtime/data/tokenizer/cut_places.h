// Positions where a long text can be cut so that both parts encode to the ids of the whole.
#pragma once

#include "runtime/data/tokenizer/tokenizer_definition.h"

#include <string_view>

namespace trainc {

/// Characters before which a text can be cut if a letter precedes them.
enum class CutPlaces {
  kNowhere,
  kSpaces,     ///< ' '
  kWhitespace, ///< ' ', \t, \n, \v, \f, \r
};

/// Finds the characters at which no word, no token and no change of the text crosses the cut, provided that
/// nothing is prepended to the second part. `added` are the added tokens as they are matched.
CutPlaces findCutPlaces(const Normalizer &normalizer, const PreTokenizer &preTokenizer,
                        const std::vector<AddedToken> &added, const TokenModel &model);

/// The last such position in `text`; 0 if there is none.
size_t lastCutPlace(CutPlaces places, std::string_view text);

} // namespace trainc
