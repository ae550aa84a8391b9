// What a plan holds at most; trainc keeps to it, and trainrun refuses a plan with more.
#pragma once

#include <cstdint>

namespace trainc {

inline constexpr uint32_t kMaximumRanks = 1 << 16;
/// Ranges of one collective.
inline constexpr uint32_t kMaximumRanges = 1024;
/// Offsets, on both sides, and lengths of copies to and from disk are multiples of it, as direct I/O asks.
inline constexpr uint64_t kDiskAlignment = 4096;
/// Every arena begins on a multiple of it: what is aligned in an arena then is in memory.
inline constexpr uint64_t kArenaAlignment = kDiskAlignment;
/// For whose blocks a memory limit leaves room (Kernel.shared_bytes).
inline constexpr uint32_t kCountedThreads = 32;

} // namespace trainc
