// What a plan holds at most; trainc keeps to it, and trainrun refuses a plan with more.
#pragma once

#include <cstdint>

namespace trainc {

inline constexpr uint32_t kMaximumRanks = 1 << 16;
/// Collectives in flight.
inline constexpr uint32_t kMaximumSlots = 64;
/// Ranges of one collective.
inline constexpr uint32_t kMaximumRanges = 1024;

} // namespace trainc
