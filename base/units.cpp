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

} // namespace

std::string formatBytes(uint64_t bytes) {
  constexpr std::array<const char *, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1023.5 && unit + 1 < kUnits.size(); ++unit)
    value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{} {}", threeDigits(value), kUnits[unit]);
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
