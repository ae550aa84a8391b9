// Formatting of quantities for people.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace trainc {

/// "512 B", "1.5 KiB", "2.61 GiB": powers of 1024, three significant digits.
std::string formatBytes(uint64_t bytes);
/// The same, rounded up: bytes that are needed, so that a limit of as many suffices.
std::string formatNeededBytes(uint64_t bytes);
/// "44.1MiB", "16GiB": a size as options take it, the smallest with three significant digits of at least
/// `bytes` bytes, or the largest of at most `bytes`.
std::string sizeOfAtLeast(uint64_t bytes);
std::string sizeOfAtMost(uint64_t bytes);
/// "950", "20.3k", "1.24M": powers of 1000, three significant digits.
std::string formatCount(double count);
/// "0.42s", "12s", "3:05", "2:03:05", "4d 02:03".
std::string formatDuration(double seconds);

/// The suggestion "; write 1000" for "1e3"; empty if `text` is in plain digits, or not a whole number from
/// `min` to `max`.
std::string inPlainDigits(std::string_view text, double min, double max);

/// `value`, with the sign of a NaN removed: the sign has no meaning but would be printed.
template <typename Float> Float withoutNanSign(Float value) {
  return std::isnan(value) ? std::numeric_limits<Float>::quiet_NaN() : value;
}

} // namespace trainc
