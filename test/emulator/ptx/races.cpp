#include "test/emulator/ptx/races.h"

#include "test/emulator/ptx/program.h"

#include <algorithm>

namespace trainc::emulator {

namespace {

/// The stamp of an access that joins those of another stamp.
uint64_t joined(uint64_t old, uint32_t thread, uint64_t stale, const BarrierOrder &order) {
  const uint64_t fresh = order.now() << Stamp::kTimeShift | thread;
  if (old < stale)
    return fresh;
  const uint64_t blocks = old & Stamp::kSeveralBlocks;
  if (old < order.blockStart())
    return fresh | Stamp::kSeveralBlocks;
  if (order.isBefore(old & ~(Stamp::kAtomic | Stamp::kSeveralBlocks), thread))
    return fresh | blocks;
  if ((old & Stamp::kSeveralWarps) != 0 || Stamp::threadOf(old) / kLanes != thread / kLanes)
    return fresh | blocks | Stamp::kSeveralWarps;
  return fresh | blocks | Stamp::kSeveralLanes;
}

/// The first stamp that is not void and in no order with the thread; 0: none.
uint64_t conflict(const uint64_t *stamps, unsigned bytes, uint32_t thread, uint64_t stale,
                  const BarrierOrder &order, uint64_t harmless = 0) {
  uint64_t latest = 0;
  for (unsigned byte = 0; byte < bytes; ++byte)
    latest = std::max(latest, stamps[byte]);
  if (latest < stale)
    return 0;
  for (unsigned byte = 0; byte < bytes; ++byte)
    if (stamps[byte] >= stale && (stamps[byte] & harmless) == 0 && !order.isBefore(stamps[byte], thread))
      return stamps[byte];
  return 0;
}

void join(uint64_t *stamps, unsigned bytes, uint32_t thread, uint64_t flags, uint64_t stale,
          const BarrierOrder &order) {
  const uint64_t first = stamps[0];
  bool areEqual = true;
  for (unsigned byte = 1; byte < bytes; ++byte)
    areEqual &= stamps[byte] == first;
  if (areEqual) {
    std::fill_n(stamps, bytes, joined(first, thread, stale, order) | flags);
    return;
  }
  for (unsigned byte = 0; byte < bytes; ++byte)
    stamps[byte] = joined(stamps[byte], thread, stale, order) | flags;
}

} // namespace

void BarrierOrder::beginBlock(uint32_t block, unsigned warps) {
  blockStart_ = ++now_;
  blocks_.emplace_back(now_, block);
  warps_ = warps;
  allMet_ = now_;
  for (unsigned warp = 0; warp < warps; ++warp) {
    warpsMet_[warp].fill(now_);
    lanesMet_[warp].clear();
  }
}

void BarrierOrder::meet(const std::vector<unsigned> &warps, const std::vector<Arrival> &arrivals) {
  ++now_;
  for (const Arrival &arrival : arrivals)
    for (const unsigned waiting : warps)
      warpsMet_[arrival.warp][waiting] = std::max(warpsMet_[arrival.warp][waiting], arrival.time);
  for (const unsigned a : warps)
    for (const unsigned b : warps)
      warpsMet_[a][b] = now_;
  if (warps.size() == warps_)
    allMet_ = now_;
}

void BarrierOrder::meetLanes(unsigned warp, uint32_t lanes) {
  ++now_;
  if (lanes == kAllLanes) {
    warpsMet_[warp][warp] = now_;
    return;
  }
  std::vector<uint64_t> &met = lanesMet_[warp];
  met.resize(size_t{kLanes} * kLanes);
  for (unsigned a = 0; a < kLanes; ++a)
    for (unsigned b = 0; b < kLanes; ++b)
      if ((lanes >> a & lanes >> b & 1) != 0)
        met[a * kLanes + b] = now_;
}

bool BarrierOrder::isBefore(uint64_t stamp, uint32_t thread) const {
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

uint32_t BarrierOrder::blockAt(uint64_t time) const {
  const auto after = std::ranges::upper_bound(blocks_, time, {}, &std::pair<uint64_t, uint32_t>::first);
  return after == blocks_.begin() ? 0 : std::prev(after)->second;
}

uint64_t noteRead(Stamps stamps, unsigned bytes, uint32_t thread, uint64_t stale, const BarrierOrder &order) {
  if (const uint64_t race = conflict(stamps.writers, bytes, thread, stale, order))
    return race;
  join(stamps.readers, bytes, thread, 0, stale, order);
  return 0;
}

uint64_t noteWrite(Stamps stamps, unsigned bytes, uint32_t thread, uint64_t stale,
                   const BarrierOrder &order) {
  if (const uint64_t race = conflict(stamps.writers, bytes, thread, stale, order))
    return race;
  if (const uint64_t race = conflict(stamps.readers, bytes, thread, stale, order))
    return race;
  std::fill_n(stamps.writers, bytes, order.now() << Stamp::kTimeShift | thread);
  return 0;
}

uint64_t noteAtomic(Stamps stamps, unsigned bytes, uint32_t thread, bool writes, uint64_t stale,
                    const BarrierOrder &order) {
  if (const uint64_t race = conflict(stamps.writers, bytes, thread, stale, order, Stamp::kAtomic))
    return race;
  if (!writes)
    return 0;
  if (const uint64_t race = conflict(stamps.readers, bytes, thread, stale, order))
    return race;
  join(stamps.writers, bytes, thread, Stamp::kAtomic, stale, order);
  return 0;
}

} // namespace trainc::emulator
