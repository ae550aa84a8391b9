#include "lib/Import/NamedSizes.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace trainc::importer {

static bool isOfWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Whether an expression has a constant.
static bool hasName(std::string_view expression, std::string_view name) {
  for (size_t at = expression.find(name); at != std::string_view::npos; at = expression.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !isOfWord(expression[at - 1])) &&
        (end == expression.size() || !isOfWord(expression[end])))
      return true;
  }
  return false;
}

/// Replaces the number of a place. Returns false if the line does not have it.
bool NamedSizes::replaceIn(std::string &line, const Place &place) const {
  if (line.find(place.marker) == std::string::npos)
    return false;
  bool isFound = false;
  const std::string written = place.before + place.number;
  for (size_t at = line.find(written); at != std::string::npos; at = line.find(written, at + 1)) {
    const size_t begin = at + place.before.size(), end = at + written.size();
    const char next = end < line.size() ? line[end] : ' ';
    if (std::isdigit(static_cast<unsigned char>(next)) || next == '.')
      continue;
    const bool isAttached = isOfWord(next) || !std::ranges::all_of(place.expression, isOfWord);
    line.replace(begin, end - begin,
                 isAttached ? fmt::format("$({})", place.expression) : "$" + place.expression);
    isFound = true;
  }
  return isFound;
}

/// Returns the `let` lines of the constants that expressions have.
std::string NamedSizes::lines(const std::vector<std::string> &expressions) const {
  std::vector<std::string> used = expressions;
  std::string text;
  for (auto constant = constants_.rbegin(); constant != constants_.rend(); ++constant) {
    if (!std::ranges::any_of(used, [&](const std::string &each) { return hasName(each, constant->name); }))
      continue;
    used.push_back(constant->value);
    text.insert(0, fmt::format("let {} = {}\n", constant->name, constant->value));
  }
  return text;
}

std::string NamedSizes::apply(std::string_view text) const {
  std::string result;
  std::vector<std::string> used;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    std::string line(text.substr(0, end));
    text.remove_prefix(end);
    for (const Place &place : places_)
      if (!line.starts_with("//") && replaceIn(line, place))
        used.push_back(place.expression);
    result += line;
  }
  const size_t comment = result.find("\n\n");
  const std::string definitions = lines(used);
  if (comment != std::string::npos && !definitions.empty())
    result.insert(comment + 2, definitions + "\n");
  return result;
}

} // namespace trainc::importer
