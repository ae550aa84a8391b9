#include "runtime/data/tokenizer/added_tokens.h"

#include "runtime/data/tokenizer/unicode.h"
#include "runtime/schema/plain_text.h"

#include <algorithm>
#include <span>
#include <tuple>

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

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::ranges::sort(tokens_, [](const AddedToken &a, const AddedToken &b) {
    return std::tie(a.content, a.id) < std::tie(b.content, b.id);
  });
  for (size_t i = 0; i < tokens_.size(); ++i) {
    Range &range = byFirstByte_[static_cast<uint8_t>(tokens_[i].content[0])];
    if (range.begin == range.end)
      range.begin = i;
    range.end = i + 1;
  }
}

/// The longest token at `position`, the one with the lowest id of equal ones. Byte by byte, fewer tokens
/// begin as the text does; they lie side by side, the shortest first.
const AddedToken *AddedTokens::longestAt(std::string_view text, size_t position) const {
  auto [begin, end] = byFirstByte_[static_cast<uint8_t>(text[position])];
  const AddedToken *longest = nullptr;
  for (size_t length = 1; begin < end; ++length) {
    for (; begin < end && tokens_[begin].content.size() == length; ++begin)
      if (!longest || longest->content.size() < length)
        longest = &tokens_[begin];
    if (position + length == text.size())
      break;
    const auto byteOf = [length](const AddedToken &token) {
      return static_cast<uint8_t>(token.content[length]);
    };
    const auto same = std::ranges::equal_range(std::span(tokens_).subspan(begin, end - begin),
                                               static_cast<uint8_t>(text[position + length]), {}, byteOf);
    begin = static_cast<size_t>(same.data() - tokens_.data());
    end = begin + same.size();
  }
  return longest;
}

std::optional<AddedTokens::Match> AddedTokens::find(std::string_view text, size_t from) const {
  if (empty())
    return std::nullopt;
  for (size_t position = from; position < text.size(); ++position) {
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
