#include "base/units.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace trainc {

namespace {

/// Formats a number in [0, 1000), or slightly above, with three significant digits.
std::string threeDigits(double value) {
  if (value < 9.995)
    return fmt::format("{:.2f}", value);
  return fmt::format("{:.{}f}", value, value < 99.95 ? 1 : 0);
}

/// Bytes in a unit, with three significant digits.
struct Digits {
  uint64_t whole, fraction;
  int places; ///< decimal places of the fraction
  const char *unit;
};

Digits digitsOf(uint64_t bytes, bool isRoundedUp) {
  constexpr std::array<const char *, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  uint64_t size = 1;
  for (; bytes / size >= 1024 && unit + 1 < kUnits.size(); ++unit)
    size *= 1024;
  const uint64_t whole = bytes / size;
  const int places = unit == 0 || whole >= 100 ? 0 : whole >= 10 ? 1 : 2;
  const uint64_t parts = places == 0 ? 1 : places == 1 ? 10 : 100; // of a unit
  const uint64_t digits = whole * parts + (bytes % size * parts + (isRoundedUp ? size - 1 : 0)) / size;
  return {digits / parts, digits % parts, places, kUnits[unit]};
}

/// Returns `bytes` in the syntax of options, rounded to three significant digits.
std::string asOption(uint64_t bytes, bool isRoundedUp) {
  const Digits digits = digitsOf(bytes, isRoundedUp);
  std::string text = fmt::format("{}", digits.whole);
  if (digits.fraction > 0)
    text += fmt::format(".{:0{}}", digits.fraction, digits.places);
  while (digits.fraction > 0 && text.back() == '0')
    text.pop_back();
  return text + digits.unit;
}

} // namespace

std::string sizeOfAtLeast(uint64_t bytes) { return asOption(bytes, /*isRoundedUp=*/true); }

std::string sizeOfAtMost(uint64_t bytes) { return asOption(bytes, /*isRoundedUp=*/false); }

std::string formatBytes(uint64_t bytes) {
  constexpr std::array<const char *, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1023.5 && unit + 1 < kUnits.size(); ++unit)
    value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{} {}", threeDigits(value), kUnits[unit]);
}

std::string formatNeededBytes(uint64_t bytes) {
  const Digits digits = digitsOf(bytes, /*isRoundedUp=*/true);
  return digits.places == 0
             ? fmt::format("{} {}", digits.whole, digits.unit)
             : fmt::format("{}.{:0{}} {}", digits.whole, digits.fraction, digits.places, digits.unit);
}

std::string formatCount(double count) {
  constexpr std::array<const char *, 5> kUnits = {"", "k", "M", "G", "T"};
  size_t unit = 0;
  for (; count >= 999.5 && unit + 1 < kUnits.size(); ++unit)
    count /= 1000;
  return unit == 0 ? fmt::format("{:.0f}", count) : threeDigits(count) + kUnits[unit];
}

std::string formatDuration(double seconds) {
  if (seconds < 9.995)
    return fmt::format("{:.2f}s", seconds);
  if (seconds < 59.5)
    return fmt::format("{:.0f}s", seconds);
  const auto total = static_cast<uint64_t>(std::llround(seconds));
  const uint64_t minutes = total / 60 % 60;
  const uint64_t hours = total / 3600 % 24;
  if (total < 3600)
    return fmt::format("{}:{:02}", minutes, total % 60);
  if (total < 86400)
    return fmt::format("{}:{:02}:{:02}", hours, minutes, total % 60);
  return fmt::format("{}d {:02}:{:02}", total / 86400, hours, minutes);
}

std::string inPlainDigits(std::string_view text, double min, double max) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr double kExact = 1e15; // beyond this bound doubles are no longer exact integers
  if (error != std::errc() || end != text.data() + text.size() || value < min ||
      value > std::min(max, kExact) || value != std::floor(value))
    return {};
  const std::string digits = fmt::format("{:.0f}", value);
  return digits == text ? std::string() : "; write " + digits;
}

} // namespace trainc
