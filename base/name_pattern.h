// Patterns of names, as models and command lines have them.
#pragma once

#include <string_view>

namespace trainc {

/// Whether `name` is `pattern`, in which each `*` stands for any text. No other character has a meaning.
inline bool matchesPattern(std::string_view pattern, std::string_view name) {
  size_t star = pattern.find('*');
  if (star == std::string_view::npos)
    return name == pattern;
  if (!name.starts_with(pattern.substr(0, star)))
    return false;
  name.remove_prefix(star);
  // The leftmost match of each piece between two stars leaves the most to the next ones.
  while (true) {
    pattern.remove_prefix(star + 1);
    star = pattern.find('*');
    if (star == std::string_view::npos)
      return name.ends_with(pattern);
    const size_t found = name.find(pattern.substr(0, star));
    if (found == std::string_view::npos)
      return false;
    name.remove_prefix(found + star);
  }
}

} // namespace trainc
