// Patterns of names, as models and command lines have them.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainc {

/// If `name` is `pattern`, in which each `*` stands for any text, returns the texts of the stars in order. No
/// other character has a meaning.
inline std::optional<std::vector<std::string_view>> capturePattern(std::string_view pattern,
                                                                   std::string_view name) {
  std::vector<std::string_view> captured;
  size_t star = pattern.find('*');
  if (star == std::string_view::npos)
    return name == pattern ? std::optional(captured) : std::nullopt;
  if (!name.starts_with(pattern.substr(0, star)))
    return std::nullopt;
  name.remove_prefix(star);
  // The leftmost match of each piece between two stars leaves the most to the next ones.
  while (true) {
    pattern.remove_prefix(star + 1);
    star = pattern.find('*');
    if (star == std::string_view::npos) {
      if (!name.ends_with(pattern))
        return std::nullopt;
      captured.push_back(name.substr(0, name.size() - pattern.size()));
      return captured;
    }
    const size_t found = name.find(pattern.substr(0, star));
    if (found == std::string_view::npos)
      return std::nullopt;
    captured.push_back(name.substr(0, found));
    name.remove_prefix(found + star);
  }
}

/// Whether `name` is `pattern`, in which each `*` stands for any text.
inline bool matchesPattern(std::string_view pattern, std::string_view name) {
  return capturePattern(pattern, name).has_value();
}

/// A rule that gives names that match `pattern` the name `replacement`, in which each `*` is the text of the
/// star at the same place in `pattern`. Both have equally many stars.
struct NameRule {
  std::string pattern, replacement;

  /// The new name of `name`, or nothing if it does not match.
  std::optional<std::string> rename(std::string_view name) const {
    const std::optional<std::vector<std::string_view>> captured = capturePattern(pattern, name);
    if (!captured)
      return std::nullopt;
    std::string renamed;
    size_t next = 0;
    for (const char letter : replacement)
      if (letter == '*')
        renamed += (*captured)[next++];
      else
        renamed += letter;
    return renamed;
  }
};

/// Reads "PATTERN=REPLACEMENT"; nothing if `text` has no such form, or another number of stars on both sides.
inline std::optional<NameRule> parseNameRule(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == text.size())
    return std::nullopt;
  NameRule rule{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
  if (std::ranges::count(rule.pattern, '*') != std::ranges::count(rule.replacement, '*'))
    return std::nullopt;
  return rule;
}

} // namespace trainc
