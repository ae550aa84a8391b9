// Validators of option values, for every command line. CLI11's own accept 010 as eight and saturate numbers
// that are too large; its range checks accept NaN. Validators have no description, which --help would append
// to the type of the value.
#pragma once

#include "base/nearest_word.h"
#include "base/units.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <string_view>

namespace trainc {

/// Parses all of `text` as a decimal number in the range of T.
template <typename T> std::optional<T> parseNumber(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

/// A whole number from `min` to `max`, for an option of type T.
template <typename T> CLI::Validator wholeNumber(T min, T max = std::numeric_limits<T>::max()) {
  const auto check = [=](const std::string &text) {
    const std::optional<T> value = parseNumber<T>(text);
    // CLI11 parses the text again, and takes a leading zero for octal.
    const bool octal = text.size() > 1 && text.front() == '0';
    return value && !octal && *value >= min && *value <= max
               ? ""
               : fmt::format("expected a whole number from {} to {}, without leading zeros, found '{}'{}",
                             min, max, text, value ? "" : inPlainDigits(text, double(min), double(max)));
  };
  return {check, ""};
}

/// A number from `min` to `max`, and hence not NaN.
inline CLI::Validator number(double min, double max) {
  const auto check = [=](const std::string &text) {
    const std::optional<double> value = parseNumber<double>(text);
    return value && *value >= min && *value <= max
               ? ""
               : fmt::format("expected a number from {:g} to {:g}, found '{}'", min, max, text);
  };
  return {check, ""};
}

/// One of `words`, in any case.
inline CLI::Validator oneOfWords(std::vector<std::string> words) {
  return {[words = std::move(words)](std::string &text) {
            const std::string word = CLI::detail::to_lower(text);
            if (std::ranges::find(words, word) == words.end())
              return describeUnknownWord(text, words);
            text = word;
            return std::string();
          },
          ""};
}

inline const CLI::Validator kPositive = wholeNumber<int64_t>(1);

} // namespace trainc
