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

/// The normal forms of a letter and of a space after it, which do not depend on each other.
struct NormalizedSpace {
  uint32_t space = ' ';        ///< the character that the space becomes
  bool changesLetters = false; ///< whether the letter may become anything
  bool onlySpaces = false;     ///< whether other white space may become anything
};

/// Returns nothing if the normal forms of a letter and of a space may depend on each other.
std::optional<NormalizedSpace> normalizedSpace(const std::vector<NormalizerStep> &steps) {
  NormalizedSpace normal;
  for (const NormalizerStep &step : steps) {
    if (const auto *replace = std::get_if<Replace>(&step)) {
      if (!replace->isSpaceToMeta)
        return std::nullopt;
      normal.space = kMetaCharacter;
    } else if (const auto *map = std::get_if<CharacterMap>(&step)) {
      if (normal.space != ' ' || !map->keeps(' '))
        return std::nullopt;
      normal.changesLetters = true;
    } else if (const auto *strip = std::get_if<StripSpaces>(&step)) {
      if (strip->right) // a letter may become a space and a mark, as U+FE70
        return std::nullopt;
    } else if (std::holds_alternative<SeparateHan>(step)) {
      normal.changesLetters = true;
    } else if (std::holds_alternative<CleanNmt>(step) && normal.space != ' ') {
      return std::nullopt;
    }
    normal.onlySpaces |= normal.space != ' ' || std::holds_alternative<CharacterMap>(step) ||
                         std::holds_alternative<CleanNmt>(step) || std::holds_alternative<CleanBert>(step);
  }
  return normal;
}

/// Whether a match in normalized text may depend on what a letter has become.
bool dependsOnLetters(const AddedToken &token) {
  return token.normalized && (token.stripLeft || token.stripRight || token.singleWord ||
                              token.content.find_first_of(" \t\n\v\f\r") != std::string::npos ||
                              token.content.find(kMeta) != std::string::npos);
}

} // namespace

CutPlaces findCutPlaces(const Normalizer &normalizer, const PreTokenizer &preTokenizer,
                        const std::vector<AddedToken> &added, const TokenModel &model) {
  const std::optional<NormalizedSpace> normal = normalizedSpace(normalizer.steps());
  if (!normal || std::ranges::any_of(added, reachesAcross) ||
      (normal->changesLetters && std::ranges::any_of(added, dependsOnLetters)))
    return CutPlaces::kNowhere;
  uint32_t space = normal->space;
  bool onlySpaces = normal->onlySpaces;
  for (const PreTokenizerStep &step : preTokenizer.steps()) {
    if (const auto *split = std::get_if<Split>(&step)) {
      const bool cutsWords = split->reach == SplitReach::kSpace ||
                             (split->reach == SplitReach::kWord && !normal->changesLetters);
      if (split->reach == SplitReach::kWhole)
        return CutPlaces::kNowhere;
      if (cutsWords && space == ' ')
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
  return !normal->changesLetters && model.startsTokens(space) ? CutPlaces::kSpaces : CutPlaces::kNowhere;
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
