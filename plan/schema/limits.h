// Limits of a plan; trainc observes them, and trainrun rejects a plan that exceeds them.
#pragma once

#include <cstdint>

namespace trainc {

inline constexpr uint32_t kMaxRanks = 1 << 16;
/// Maximum axes of a mesh.
inline constexpr uint8_t kMaxAxes = 5;
/// Bytes of all arenas of a plan together.
inline constexpr uint64_t kMaxArenaBytes = uint64_t{1} << 46;
/// Maximum ranges of one collective.
inline constexpr uint32_t kMaxRanges = 1024;
/// Alignment of offsets (on both sides) and lengths of disk copies, as direct I/O requires. A copy that ends
/// with its buffer on disk transfers all of the last block.
inline constexpr uint64_t kDiskAlignment = 4096;
/// Rounds up to whole blocks.
inline constexpr uint64_t wholeBlocks(uint64_t bytes) {
  return (bytes + kDiskAlignment - 1) / kDiskAlignment * kDiskAlignment;
}
/// Alignment of every arena: an offset aligned within an arena is aligned in memory.
inline constexpr uint64_t kArenaAlignment = kDiskAlignment;
/// Number of threads for whose blocks a memory limit reserves memory (Kernel.shared_bytes).
inline constexpr uint32_t kCountedThreads = 32;

} // namespace trainc
