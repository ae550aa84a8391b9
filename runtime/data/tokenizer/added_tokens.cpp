#include "runtime/data/tokenizer/added_tokens.h"

#include "runtime/data/tokenizer/unicode.h"
#include "runtime/schema/plain_text.h"

#include <algorithm>

namespace trainc {

namespace {

size_t skipSpaces(std::string_view text, size_t position) {
  for (size_t next = position; next < text.size();) {
    const std::optional<uint32_t> character = nextCharacter(text, next);
    if (!character || !isSpace(*character))
      break;
    position = next;
  }
  return position;
}

/// The last character of `text`; nothing if there is none, or if it is not valid UTF-8.
std::optional<uint32_t> characterBefore(std::string_view text) {
  if (text.empty())
    return std::nullopt;
  size_t position = lastCharacter(text);
  const std::optional<uint32_t> character = nextCharacter(text, position);
  return position == text.size() ? character : std::nullopt;
}

/// Begin of the run of spaces that ends at `end`, not before `from`.
size_t spacesBefore(std::string_view text, size_t from, size_t end) {
  while (end > from) {
    const std::string_view before = text.substr(from, end - from);
    const std::optional<uint32_t> character = characterBefore(before);
    if (!character || !isSpace(*character))
      break;
    end = from + lastCharacter(before);
  }
  return end;
}

/// Whether the character is a letter, mark, digit or connector.
bool isWordCharacter(uint32_t character) {
  static const Result<Regex> kWord =
      Regex::compile("", R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}])", "\\w");
  std::string text;
  appendUtf8(character, text);
  return kWord.ok() && kWord->matches(text);
}

bool standsAlone(std::string_view text, size_t begin, size_t end) {
  const std::optional<uint32_t> before = characterBefore(text.substr(0, begin));
  size_t position = end;
  const std::optional<uint32_t> after = end < text.size() ? nextCharacter(text, position) : std::nullopt;
  return !(before && isWordCharacter(*before)) && !(after && isWordCharacter(*after));
}

} // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : empty_(tokens.empty()) {
  std::ranges::sort(tokens, std::greater<>(), [](const AddedToken &token) { return token.content.size(); });
  for (AddedToken &token : tokens) {
    const auto first = static_cast<uint8_t>(token.content[0]);
    mayBegin_[first] = true;
    byFirstByte_[first].push_back(std::move(token));
  }
}

const AddedToken *AddedTokens::longestAt(std::string_view text, size_t position) const {
  for (const AddedToken &token : byFirstByte_[static_cast<uint8_t>(text[position])])
    if (text.substr(position).starts_with(token.content))
      return &token;
  return nullptr;
}

std::optional<AddedTokens::Match> AddedTokens::find(std::string_view text, size_t from) const {
  if (empty_)
    return std::nullopt;
  for (size_t position = from; position < text.size(); ++position) {
    if (!mayBegin_[static_cast<uint8_t>(text[position])])
      continue;
    const AddedToken *token = longestAt(text, position);
    if (!token)
      continue;
    const size_t end = position + token->content.size();
    if (token->singleWord && !standsAlone(text, position, end)) {
      position = end - 1; // shorter tokens, and others within it, are not tried
      continue;
    }
    return Match{token->stripLeft ? spacesBefore(text, from, position) : position,
                 token->stripRight ? skipSpaces(text, end) : end, token->id};
  }
  return std::nullopt;
}

} // namespace trainc
