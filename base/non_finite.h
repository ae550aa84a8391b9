// Finding NaN and infinity among many numbers.
#pragma once

#include "base/float8.h"
#include "base/small_float.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

namespace trainc {

namespace non_finite {

/// Bits of a number, and those that are all set in a NaN or infinity and in no other number.
template <typename Number> struct Pattern {
  using Bits = decltype(Number::bits);
  static constexpr Bits kMask = Number::kNonFinite;
};
template <> struct Pattern<double> {
  using Bits = uint64_t;
  static constexpr Bits kMask = std::bit_cast<Bits>(std::numeric_limits<double>::infinity());
};
template <> struct Pattern<float> {
  using Bits = uint32_t;
  static constexpr Bits kMask = std::bit_cast<Bits>(std::numeric_limits<float>::infinity());
};

} // namespace non_finite

/// Returns the index of the first NaN or infinity among the numbers that `bytes` hold, which may be
/// unaligned.
template <typename Number> std::optional<size_t> firstNonFinite(std::span<const std::byte> bytes) {
  using Bits = typename non_finite::Pattern<Number>::Bits;
  constexpr Bits mask = non_finite::Pattern<Number>::kMask;
  constexpr size_t kBlock = 1024; // without a branch inside, so that the loop becomes vector instructions
  const auto isBad = [&](size_t index) {
    Bits bits;
    std::memcpy(&bits, bytes.data() + index * sizeof(Bits), sizeof(Bits));
    return (bits & mask) == mask;
  };
  const size_t count = bytes.size() / sizeof(Bits);
  for (size_t begin = 0; begin < count; begin += kBlock) {
    const size_t end = std::min(begin + kBlock, count);
    bool any = false;
    for (size_t i = begin; i < end; ++i)
      any |= isBad(i);
    for (size_t i = begin; any; ++i)
      if (isBad(i))
        return i;
  }
  return std::nullopt;
}

} // namespace trainc
