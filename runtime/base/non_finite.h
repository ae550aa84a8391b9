// Finding NaN and infinity among many numbers.
#pragma once

#include "runtime/base/float8.h"
#include "runtime/base/small_float.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

namespace trainc {

namespace non_finite {

/// Bits of a number, and those that are all set in a NaN or infinity and in no other number.
template <typename Number> struct Pattern;
template <> struct Pattern<double> {
  using Bits = uint64_t;
  static constexpr Bits kMask = 0x7ff0000000000000;
};
template <> struct Pattern<float> {
  using Bits = uint32_t;
  static constexpr Bits kMask = 0x7f800000;
};
template <> struct Pattern<BFloat16> {
  using Bits = uint16_t;
  static constexpr Bits kMask = 0x7f80;
};
template <> struct Pattern<Float16> {
  using Bits = uint16_t;
  static constexpr Bits kMask = 0x7c00;
};
template <> struct Pattern<Float8E5M2> {
  using Bits = uint8_t;
  static constexpr Bits kMask = 0x7c;
};
/// A format without infinities, whose only NaN is that with all bits set.
template <> struct Pattern<Float8E4M3> {
  using Bits = uint8_t;
  static constexpr Bits kMask = 0x7f;
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
