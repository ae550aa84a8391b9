// Checks of option values, for every command line: the messages of CLI11's own print the largest double in
// full.
#pragma once

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace trainc {

inline const CLI::Validator kPositive(
    [](std::string &text) {
      return CLI::PositiveNumber(text).empty() ? ""
                                               : fmt::format("expected a number above 0, found '{}'", text);
    },
    "POSITIVE");

inline const CLI::Validator kNonNegative(
    [](std::string &text) {
      return CLI::NonNegativeNumber(text).empty() ? "" : fmt::format("expected 0 or more, found '{}'", text);
    },
    "NONNEGATIVE");

} // namespace trainc
