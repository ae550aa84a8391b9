// Race detection: the last access to each byte, and whether a barrier orders a later access after it.
#pragma once

#include "test/emulator/ptx/program.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace trainc::emulator {

/// An access: its time, its thread, and whether several unordered threads had one. 0: none. Time advances
/// with every barrier of any block; blocks run one after the other.
struct Stamp {
  static constexpr uint64_t kThreadMask = 1023;
  static constexpr uint64_t kSeveralLanes = 1U << 10; ///< several lanes of one warp
  static constexpr uint64_t kSeveralWarps = 1U << 11;
  static constexpr uint64_t kSeveralBlocks = 1U << 12;
  static constexpr uint64_t kAtomic = 1U << 13;
  static constexpr unsigned kTimeShift = 14;

  static uint64_t timeOf(uint64_t stamp) { return stamp >> kTimeShift; }
  static uint32_t threadOf(uint64_t stamp) { return static_cast<uint32_t>(stamp & kThreadMask); }
};

/// Barriers of a launch. Order is tracked between pairs of warps and, within a warp, of lanes; it is not
/// transitive through a third warp.
class BarrierOrder {
public:
  explicit BarrierOrder(uint64_t start) : launchStart_(start + 1), now_(start + 1) {}

  void beginBlock(uint32_t block, unsigned warps);
  /// Arrival of a warp at a barrier without waiting.
  struct Arrival {
    unsigned warp;
    uint64_t time; ///< earlier accesses of the warp are ordered before
  };
  Arrival arrive(unsigned warp) { return {warp, ++now_}; }
  /// Records that these warps waited for each other, and for those that only arrived.
  void meet(const std::vector<unsigned> &warps, const std::vector<Arrival> &arrivals);
  /// Records that lanes of a warp synchronised.
  void meetLanes(unsigned warp, uint32_t lanes);

  uint64_t now() const { return now_; }
  uint64_t launchStart() const { return launchStart_ << Stamp::kTimeShift; } ///< older stamps are invalid
  uint64_t blockStart() const { return blockStart_ << Stamp::kTimeShift; }
  /// Whether the stamped access is ordered before the current access of `thread`.
  bool isBefore(uint64_t stamp, uint32_t thread) const;
  /// The block that ran at a time.
  uint32_t blockAt(uint64_t time) const;

private:
  static constexpr unsigned kMaxWarps = 32;

  uint64_t launchStart_, blockStart_ = 0, now_;
  unsigned warps_ = 0;
  uint64_t allMet_ = 0; ///< last barrier of all warps
  /// Accesses of [a] before this time are ordered before those of [b].
  std::array<std::array<uint64_t, kMaxWarps>, kMaxWarps> warpsMet_ = {};
  /// 32 x 32 for each warp; empty if only whole warps synchronised.
  std::array<std::vector<uint64_t>, kMaxWarps> lanesMet_;
  std::vector<std::pair<uint64_t, uint32_t>> blocks_; ///< begin time of each block
};

inline bool BarrierOrder::isBefore(uint64_t stamp, uint32_t thread) const {
  const uint64_t time = Stamp::timeOf(stamp);
  if ((stamp & Stamp::kSeveralBlocks) != 0 || time < blockStart_)
    return false;
  if ((stamp & Stamp::kSeveralWarps) != 0)
    return time < allMet_;
  const uint32_t other = Stamp::threadOf(stamp);
  if (other == thread && (stamp & Stamp::kSeveralLanes) == 0)
    return true;
  const unsigned warp = thread / kLanes;
  if (time < warpsMet_[other / kLanes][warp])
    return true;
  const std::vector<uint64_t> &met = lanesMet_[warp];
  return other / kLanes == warp && (stamp & Stamp::kSeveralLanes) == 0 && !met.empty() &&
         time < met[other % kLanes * kLanes + thread % kLanes];
}

/// Stamps of some bytes, one per granule.
struct Stamps {
  uint64_t *writers = nullptr, *readers = nullptr;
  unsigned count = 0;
};

/// Stamps of consecutive bytes. A granule is as large as the smallest access so far; its stamp holds for each
/// of its bytes.
class StampPage {
public:
  static constexpr uint64_t kBytes = 4096;
  static constexpr unsigned kMaxGranuleShift = 5; ///< of the largest accesses: 32 bytes

  explicit StampPage(unsigned granuleShift)
      : granuleShift_(granuleShift), writers_(kBytes >> granuleShift), readers_(kBytes >> granuleShift) {}

  unsigned granuleShift() const { return granuleShift_; }
  /// Stamps of an access whose size is a power of two, aligned to it.
  Stamps at(uint64_t offset, unsigned bytes) {
    if (bytes < 1U << granuleShift_)
      split(bytes);
    return {&writers_[offset >> granuleShift_], &readers_[offset >> granuleShift_], bytes >> granuleShift_};
  }

private:
  void split(unsigned bytes);

  unsigned granuleShift_;
  std::vector<uint64_t> writers_, readers_;
};

/// Record an access by a thread, and return the stamp of an access that it races with; 0 if none. Stamps
/// below `stale` are ignored.
uint64_t noteRead(Stamps stamps, uint32_t thread, uint64_t stale, const BarrierOrder &order);
uint64_t noteWrite(Stamps stamps, uint32_t thread, uint64_t stale, const BarrierOrder &order);
/// `writes` is false for strong loads, which race only with plain writes.
uint64_t noteAtomic(Stamps stamps, uint32_t thread, bool writes, uint64_t stale, const BarrierOrder &order);

} // namespace trainc::emulator
