// Validators of option values, for every command line. CLI11's own accept 010 as eight and saturate numbers
// that are too large; its range checks accept NaN.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
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

/// The suggestion "; write 1000" for "1e3"; empty if `text` is not a whole number from `least` to `most` in
/// another notation.
inline std::string inPlainDigits(std::string_view text, double least, double most) {
  const std::optional<double> value = parseNumber<double>(text);
  constexpr double kExact = 1e15; // beyond this bound doubles are no longer exact integers
  if (!value || *value < least || *value > std::min(most, kExact) || *value != std::floor(*value))
    return {};
  return fmt::format("; write {:.0f}", *value);
}

/// A whole number from `least` to `most`, for an option of type T.
template <typename T> CLI::Validator wholeNumber(T least, T most = std::numeric_limits<T>::max()) {
  const auto check = [=](const std::string &text) {
    const std::optional<T> value = parseNumber<T>(text);
    // CLI11 parses the text again, and takes a leading zero for octal.
    const bool octal = text.size() > 1 && text.front() == '0';
    return value && !octal && *value >= least && *value <= most
               ? ""
               : fmt::format("expected a whole number from {} to {}, without leading zeros, found '{}'{}",
                             least, most, text,
                             value ? "" : inPlainDigits(text, double(least), double(most)));
  };
  return {check, least > 0 ? "POSITIVE" : "NONNEGATIVE"};
}

/// A number from `least` to `most`, and hence not NaN.
inline CLI::Validator number(double least, double most) {
  const auto check = [=](const std::string &text) {
    const std::optional<double> value = parseNumber<double>(text);
    return value && *value >= least && *value <= most
               ? ""
               : fmt::format("expected a number from {:g} to {:g}, found '{}'", least, most, text);
  };
  return {check, fmt::format("[{:g} - {:g}]", least, most)};
}

inline const CLI::Validator kPositive = wholeNumber<int64_t>(1);

} // namespace trainc
