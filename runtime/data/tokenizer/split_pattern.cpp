#include "runtime/data/tokenizer/split_pattern.h"

#include "runtime/data/tokenizer/unicode.h"

#include <array>
#include <limits>
#include <utility>

namespace trainc {

namespace {

constexpr std::string_view kGpt2Regex =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kLlama3Regex =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2Regex =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr size_t kUnlimited = std::numeric_limits<size_t>::max();

/// The end of the longest run of at most `limit` characters of class `kind` from `position` on.
size_t runEnd(CharClass kind, std::string_view text, size_t position, size_t limit = kUnlimited) {
  for (size_t count = 0; position < text.size() && count < limit; ++count) {
    const Character next = characterAt(text, position);
    if (next.kind != kind)
      break;
    position += next.bytes;
  }
  return position;
}

/// The end of a contraction ('s 't 're 've 'm 'll 'd) at `position`, or `position`.
size_t contractionEnd(std::string_view text, size_t position, bool anyCase) {
  if (text[position] != '\'')
    return position;
  // Latin small letter long s is the only other character that equals one of these letters but for case.
  if (anyCase && text.substr(position + 1, 2) == "\u017F")
    return position + 3;
  const auto letter = [&](size_t offset) -> char {
    if (position + offset >= text.size())
      return '\0';
    const char c = text[position + offset];
    return anyCase && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  const char first = letter(1);
  if (first == 's' || first == 't' || first == 'm' || first == 'd')
    return position + 2;
  const char second = letter(2);
  const bool two =
      (first == 'r' && second == 'e') || (first == 'v' && second == 'e') || (first == 'l' && second == 'l');
  return two ? position + 3 : position;
}

/// \s+(?!\S)|\s+ : a run of spaces leaves its last one to a word that follows, unless it is the only one.
size_t spacesEnd(std::string_view text, size_t position) {
  size_t last = position; // start of the run's last character
  size_t end = position;
  while (end < text.size()) {
    const Character next = characterAt(text, end);
    if (next.kind != CharClass::kSpace)
      break;
    last = end;
    end += next.bytes;
  }
  return end == text.size() || last == position ? end : last;
}

size_t gpt2WordEnd(std::string_view text, size_t position) {
  if (const size_t end = contractionEnd(text, position, /*anyCase=*/false); end != position)
    return end;
  const size_t start = position + (text[position] == ' ' ? 1 : 0);
  if (start < text.size())
    if (const CharClass kind = characterAt(text, start).kind; kind != CharClass::kSpace)
      return runEnd(kind, text, start);
  return spacesEnd(text, position);
}

bool isNewline(char c) { return c == '\r' || c == '\n'; }

/// \s*[\r\n]+ : the end of the last newline of the run of spaces at `position`, or `position`.
size_t newlinesEnd(std::string_view text, size_t position) {
  size_t end = position;
  const size_t run = runEnd(CharClass::kSpace, text, position);
  for (size_t i = position; i < run; ++i)
    if (isNewline(text[i]))
      end = i + 1;
  return end;
}

size_t llama3WordEnd(std::string_view text, size_t position, size_t digits) {
  if (const size_t end = contractionEnd(text, position, /*anyCase=*/true); end != position)
    return end;
  const Character first = characterAt(text, position);
  if (first.kind == CharClass::kLetter)
    return runEnd(CharClass::kLetter, text, position);
  const size_t second = position + first.bytes;
  const bool mayLead = first.kind != CharClass::kNumber && !isNewline(text[position]);
  if (mayLead && second < text.size() && characterAt(text, second).kind == CharClass::kLetter)
    return runEnd(CharClass::kLetter, text, second);
  if (first.kind == CharClass::kNumber)
    return runEnd(CharClass::kNumber, text, position, digits);
  const size_t start = text[position] == ' ' ? second : position;
  if (start < text.size() && characterAt(text, start).kind == CharClass::kOther) {
    size_t end = runEnd(CharClass::kOther, text, start);
    while (end < text.size() && isNewline(text[end]))
      ++end;
    return end;
  }
  if (const size_t end = newlinesEnd(text, position); end != position)
    return end;
  return spacesEnd(text, position);
}

} // namespace

std::optional<SplitPattern> findSplitPattern(std::string_view regex) {
  constexpr std::array<std::pair<std::string_view, SplitPattern>, 3> kKnown = {
      {{kGpt2Regex, SplitPattern::kGpt2},
       {kLlama3Regex, SplitPattern::kLlama3},
       {kQwen2Regex, SplitPattern::kQwen2}}};
  for (const auto &[known, pattern] : kKnown)
    if (known == regex)
      return pattern;
  return std::nullopt;
}

size_t wordEnd(SplitPattern pattern, std::string_view text, size_t position) {
  switch (pattern) {
  case SplitPattern::kWhole:
    return text.size();
  case SplitPattern::kGpt2:
    return gpt2WordEnd(text, position);
  case SplitPattern::kLlama3:
    return llama3WordEnd(text, position, 3);
  case SplitPattern::kQwen2:
    return llama3WordEnd(text, position, 1);
  }
  return text.size();
}

size_t lastSpaceAfterLetter(std::string_view text) {
  for (size_t position = text.size(); position-- > 1;)
    if (characterAt(text, position).kind == CharClass::kSpace &&
        lastCharacter(text.substr(0, position)).kind == CharClass::kLetter)
      return position;
  return 0;
}

} // namespace trainc
