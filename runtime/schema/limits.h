// What a plan holds at most; trainc keeps to it, and trainrun refuses a plan with more.
#pragma once

#include <cstdint>

namespace trainc {

inline constexpr uint32_t kMaximumRanks = 1 << 16;
/// Ranges of one collective.
inline constexpr uint32_t kMaximumRanges = 1024;
/// Offsets, on both sides, and lengths of copies to and from disk are multiples of it, as direct I/O asks; of
/// one that ends with its buffer on disk all of the last block moves.
inline constexpr uint64_t kDiskAlignment = 4096;
/// Bytes up to the end of the last block.
inline constexpr uint64_t wholeBlocks(uint64_t bytes) {
  return (bytes + kDiskAlignment - 1) / kDiskAlignment * kDiskAlignment;
}
/// Every arena begins on a multiple of it: what is aligned in an arena then is in memory.
inline constexpr uint64_t kArenaAlignment = kDiskAlignment;
/// For whose blocks a memory limit leaves room (Kernel.shared_bytes).
inline constexpr uint32_t kCountedThreads = 32;

} // namespace trainc
