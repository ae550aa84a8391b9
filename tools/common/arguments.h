// Checks of a command line before it is parsed.
#pragma once

#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>

namespace trainc {

/// What is wrong with a command line: an option that ends in its '=', as `--steps=$STEPS` does where the
/// shell's variable is empty, or an empty argument, as "$OUT" is. CLI11 would take the next option for the
/// value, or the empty one.
inline std::optional<std::string> findMissingValue(int argc, const char *const *argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--")
      break;
    if (argument.empty())
      return fmt::format("the argument behind {} is empty; is a variable?", argv[i - 1]);
    if (argument.starts_with("--") && argument.find('=') == argument.size() - 1)
      return fmt::format("{} has no value; is a variable empty?", argument);
  }
  return std::nullopt;
}

} // namespace trainc
