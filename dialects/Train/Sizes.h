// Sizes in bytes, as models and command lines write them. Free of MLIR.
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

/// Powers of 1024, the first one first.
inline constexpr std::string_view kSizeUnits[] = {"KiB", "MiB", "GiB", "TiB"};

/// Which unit the word is, in any case: 0 for KiB. The number of units for other words.
inline size_t unitNumber(std::string_view word) {
  const auto isSame = [&](std::string_view unit) {
    return std::ranges::equal(unit, word, {}, ::toupper, ::toupper);
  };
  return size_t(std::ranges::find_if(kSizeUnits, isSame) - std::begin(kSizeUnits));
}

/// What errors expect of a size.
inline constexpr std::string_view kExpectedBytes =
    "a number of bytes above 0 and below 8388608TiB in plain digits, such as 16GiB";

/// The bytes that a size such as "2.4" "GiB" says, rounded down. Without a unit it is a whole number. None if
/// it is no number above 0 in plain digits, without leading zeros and of at most 2^63 - 1 bytes.
inline std::optional<int64_t> bytesOf(std::string_view number, std::string_view unit) {
  const size_t power = unit.empty() ? 0 : unitNumber(unit) + 1;
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
  // From the last digit on, rounding down each time rounds the sum down once.
  for (size_t i = fraction.size(); i-- > 1;) {
    if (fraction[i] < '0' || fraction[i] > '9')
      return std::nullopt;
    part = ((fraction[i] - '0') * size + part) / 10;
  }
  if (units * size > INT64_MAX - part || units * size + part == 0)
    return std::nullopt;
  return units * size + part;
}

/// The unit that somebody meant who wrote G or GB; empty for units and for other words.
inline std::string_view meantUnit(std::string_view word) {
  if (word.empty() || word.size() > 2 || (word.size() == 2 && ::toupper(word.back()) != 'B'))
    return {};
  const size_t number = unitNumber(std::string{word.front(), 'i', 'B'});
  return number == std::size(kSizeUnits) ? std::string_view() : kSizeUnits[number];
}

} // namespace trainc::train
