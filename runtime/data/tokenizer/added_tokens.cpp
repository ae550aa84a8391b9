#include "runtime/data/tokenizer/added_tokens.h"

#include "runtime/data/tokenizer/unicode.h"

#include <algorithm>

namespace trainc {

namespace {

size_t skipSpaces(std::string_view text, size_t position) {
  while (position < text.size()) {
    const Character next = characterAt(text, position);
    if (next.kind != CharClass::kSpace)
      break;
    position += next.bytes;
  }
  return position;
}

/// Where the spaces that end at `end` begin, not before `from`.
size_t spacesBefore(std::string_view text, size_t from, size_t end) {
  while (end > from) {
    const Character last = lastCharacter(text.substr(from, end - from));
    if (last.kind != CharClass::kSpace)
      break;
    end -= last.bytes;
  }
  return end;
}

} // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : empty_(tokens.empty()) {
  std::ranges::sort(tokens, std::greater<>(), [](const AddedToken &token) { return token.content.size(); });
  for (AddedToken &token : tokens)
    byFirstByte_[static_cast<uint8_t>(token.content[0])].push_back(std::move(token));
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
    const AddedToken *token = longestAt(text, position);
    if (!token)
      continue;
    const size_t end = position + token->content.size();
    return Match{token->stripLeft ? spacesBefore(text, from, position) : position,
                 token->stripRight ? skipSpaces(text, end) : end, token->id};
  }
  return std::nullopt;
}

} // namespace trainc
