// Where a long text can be cut so that both parts encode to the ids of the whole.
#pragma once

#include "runtime/data/tokenizer/bpe_model.h"

#include <string_view>

namespace trainc {

/// Before which characters, if a letter is before them.
enum class CutPlaces {
  kNowhere,
  kSpaces,     ///< ' '
  kWhitespace, ///< ' ', \t, \n, \v, \f, \r
};

/// The places at which no word, no token and no change of the text reaches from one part to the other, if
/// nothing is put before the second part. `added`: the added tokens as they are looked for. `model`: null if
/// a word can be a token whatever the merges.
CutPlaces findCutPlaces(const Normalizer &normalizer, const PreTokenizer &preTokenizer,
                        const std::vector<AddedToken> &added, const BpeModel *model);

/// The last such position in `text`; 0 where there is none.
size_t lastCutPlace(CutPlaces places, std::string_view text);

} // namespace trainc
