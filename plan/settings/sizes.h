// Sizes in bytes, in the syntax of models and command lines.
#pragma once

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace trainc::train {

/// Units in order: unit i is 1024^(i+1) bytes.
inline constexpr std::string_view kSizeUnits[] = {"KiB", "MiB", "GiB", "TiB"};

/// Returns the index of a unit, ignoring case; the number of units if the word is not a unit.
inline size_t unitNumber(std::string_view word) {
  const auto isSame = [&](std::string_view unit) {
    return std::ranges::equal(unit, word, {}, ::toupper, ::toupper);
  };
  return size_t(std::ranges::find_if(kSizeUnits, isSame) - std::begin(kSizeUnits));
}

/// Description of a valid size, for errors.
inline constexpr std::string_view kExpectedBytes =
    "a number of bytes above 0 and below 8388608TiB in plain digits, such as 16GiB";

/// Whether the word is the unit of single bytes.
inline bool isByteUnit(std::string_view word) { return word == "B" || word == "b"; }

/// Returns the bytes of a size such as "2.4" "GiB", rounded down. Without a unit, or with B, the number must
/// be whole. Returns none unless it is above 0, at most 2^63 - 1 bytes, and in plain digits without leading
/// zeros.
inline std::optional<int64_t> bytesOf(std::string_view number, std::string_view unit) {
  const size_t power = unit.empty() || isByteUnit(unit) ? 0 : unitNumber(unit) + 1;
  if (power > std::size(kSizeUnits))
    return std::nullopt;
  const int64_t size = int64_t{1} << (10 * power);
  const size_t point = std::min(number.find('.'), number.size());
  const std::string_view whole = number.substr(0, point), fraction = number.substr(point);
  int64_t units = 0, part = 0;
  const auto [end, error] = std::from_chars(whole.data(), whole.data() + whole.size(), units);
  const bool isPlain = error == std::errc() && end == whole.data() + whole.size() &&
                       (whole.size() == 1 || whole.front() != '0') && fraction != ".";
  if (!isPlain || units < 0 || units > INT64_MAX / size || (power == 0 && !fraction.empty()))
    return std::nullopt;
  // From the last digit on, repeated rounding down equals rounding the sum down once.
  for (size_t i = fraction.size(); i-- > 1;) {
    if (fraction[i] < '0' || fraction[i] > '9')
      return std::nullopt;
    part = ((fraction[i] - '0') * size + part) / 10;
  }
  if (units * size > INT64_MAX - part || units * size + part == 0)
    return std::nullopt;
  return units * size + part;
}

/// Returns the bytes of a size such as "16MiB" or "16777216"; none if bytesOf() has none.
inline std::optional<int64_t> sizeIn(std::string_view text) {
  const size_t unit = std::min(text.find_first_not_of("0123456789."), text.size());
  return bytesOf(text.substr(0, unit), text.substr(unit));
}

/// Minimum size of memory that may be written without a unit: a user who writes 16 means 16GiB.
inline constexpr int64_t kPlainBytes = int64_t{1} << 20;

/// Returns a size of memory as models and command lines take it.
inline std::string writtenBytes(int64_t bytes) {
  return std::to_string(bytes) + (bytes < kPlainBytes ? "B" : "");
}

/// Returns an error for a size of memory of `bytes` bytes that lacks a unit; empty for valid sizes.
inline std::string findMissingUnit(std::string_view number, std::string_view unit, int64_t bytes) {
  if (!unit.empty() || bytes >= kPlainBytes)
    return {};
  const std::string digits(number);
  return "expected a unit, found '" + digits + "', which would be " + digits + " bytes; write " + digits +
         (bytes < 1024 ? "GiB" : "MiB") + ", or " + digits + "B for as few bytes";
}

/// Returns the unit that G or GB stands for, for a hint; empty for valid units and for other words.
inline std::string_view meantUnit(std::string_view word) {
  if (word.empty() || word.size() > 2 || (word.size() == 2 && ::toupper(word.back()) != 'B'))
    return {};
  const size_t number = unitNumber(std::string{word.front(), 'i', 'B'});
  return number == std::size(kSizeUnits) ? std::string_view() : kSizeUnits[number];
}

} // namespace trainc::train
