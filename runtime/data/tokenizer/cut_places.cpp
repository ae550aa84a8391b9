#include "runtime/data/tokenizer/cut_places.h"

#include "base/plain_text.h"
#include "runtime/data/tokenizer/unicode.h"

#include <algorithm>

namespace trainc {

namespace {

bool isAsciiSpace(uint32_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Whether the token, with the spaces that it strips, may contain a space after a letter, or depends on the
/// text before its space.
bool reachesAcross(const AddedToken &token) {
  bool letter = false;
  bool first = true;
  for (size_t position = 0; position < token.content.size(); first = false) {
    const uint32_t character = nextCharacter(token.content, position).value_or(0);
    const bool space = isAsciiSpace(character) || character == kMetaCharacter;
    if (space && (letter || (first && token.singleWord)))
      return true;
    letter = isLetter(character);
  }
  return letter && token.stripRight;
}

/// The character that a space becomes before the pre-tokenizer, if all steps change characters independently.
std::optional<uint32_t> normalizedSpace(const std::vector<NormalizerStep> &steps) {
  uint32_t space = ' ';
  for (const NormalizerStep &step : steps)
    if (const auto *replace = std::get_if<Replace>(&step)) {
      if (!replace->isSpaceToMeta)
        return std::nullopt;
      space = kMetaCharacter;
    }
  return space;
}

} // namespace

CutPlaces findCutPlaces(const Normalizer &normalizer, const PreTokenizer &preTokenizer,
                        const std::vector<AddedToken> &added, const BpeModel *model) {
  const std::optional<uint32_t> normalized = normalizedSpace(normalizer.steps());
  if (!normalized || std::ranges::any_of(added, reachesAcross))
    return CutPlaces::kNowhere;
  uint32_t space = *normalized;
  bool onlySpaces = space == kMetaCharacter;
  for (const PreTokenizerStep &step : preTokenizer.steps()) {
    if (const auto *split = std::get_if<Split>(&step)) {
      if (split->reach == SplitReach::kWhole)
        return CutPlaces::kNowhere;
      if (split->reach == SplitReach::kWord && space == ' ')
        return onlySpaces ? CutPlaces::kSpaces : CutPlaces::kWhitespace;
      if (split->reach == SplitReach::kMeta && space == kMetaCharacter)
        return CutPlaces::kSpaces;
    } else if (std::holds_alternative<Metaspace>(step)) {
      if (std::get<Metaspace>(step).replacement != kMeta)
        return CutPlaces::kNowhere;
      space = kMetaCharacter;
      onlySpaces = true;
    } else if (std::holds_alternative<PrefixSpace>(step)) {
      onlySpaces = true; // nothing is inserted before a space
    } else {
      return CutPlaces::kNowhere;
    }
  }
  return model && model->startsTokens(space) ? CutPlaces::kSpaces : CutPlaces::kNowhere;
}

size_t lastCutPlace(CutPlaces places, std::string_view text) {
  if (places == CutPlaces::kNowhere)
    return 0;
  for (size_t position = text.size(); position-- > 1;) {
    if (places == CutPlaces::kSpaces ? text[position] != ' '
                                     : !isAsciiSpace(static_cast<unsigned char>(text[position])))
      continue;
    size_t before = lastCharacter(text.substr(0, position));
    const std::optional<uint32_t> character = nextCharacter(text, before);
    if (character && before == position && isLetter(*character))
      return position;
  }
  return 0;
}

} // namespace trainc
