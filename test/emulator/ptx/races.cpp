#include "test/emulator/ptx/races.h"

#include <algorithm>
#include <bit>

namespace trainc::emulator {

namespace {

/// Merges the stamp of an access with an earlier stamp.
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

/// The first valid stamp that is not ordered before the thread's access; 0 if there is none.
uint64_t conflict(const uint64_t *stamps, unsigned count, uint32_t thread, uint64_t stale,
                  const BarrierOrder &order, uint64_t harmless = 0) {
  uint64_t last = 0; // neighbours usually have the same stamp
  for (unsigned index = 0; index < count; ++index) {
    const uint64_t stamp = stamps[index];
    if (stamp < stale || stamp == last)
      continue;
    if ((stamp & harmless) == 0 && !order.isBefore(stamp, thread))
      return stamp;
    last = stamp;
  }
  return 0;
}

void join(uint64_t *stamps, unsigned count, uint32_t thread, uint64_t flags, uint64_t stale,
          const BarrierOrder &order) {
  uint64_t last = stamps[0], next = joined(last, thread, stale, order) | flags;
  for (unsigned index = 0; index < count; ++index) {
    if (stamps[index] != last) {
      last = stamps[index];
      next = joined(last, thread, stale, order) | flags;
    }
    stamps[index] = next;
  }
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

uint32_t BarrierOrder::blockAt(uint64_t time) const {
  const auto after = std::ranges::upper_bound(blocks_, time, {}, &std::pair<uint64_t, uint32_t>::first);
  return after == blocks_.begin() ? 0 : std::prev(after)->second;
}

/// Splits granules to `bytes` bytes.
void StampPage::split(unsigned bytes) {
  const auto shift = static_cast<unsigned>(std::countr_zero(bytes));
  for (std::vector<uint64_t> *stamps : {&writers_, &readers_}) {
    std::vector<uint64_t> finer(kBytes >> shift);
    for (size_t index = 0; index < finer.size(); ++index)
      finer[index] = (*stamps)[index >> (granuleShift_ - shift)];
    *stamps = std::move(finer);
  }
  granuleShift_ = shift;
}

uint64_t noteRead(Stamps stamps, uint32_t thread, uint64_t stale, const BarrierOrder &order) {
  if (const uint64_t race = conflict(stamps.writers, stamps.count, thread, stale, order))
    return race;
  join(stamps.readers, stamps.count, thread, 0, stale, order);
  return 0;
}

uint64_t noteWrite(Stamps stamps, uint32_t thread, uint64_t stale, const BarrierOrder &order) {
  if (const uint64_t race = conflict(stamps.writers, stamps.count, thread, stale, order))
    return race;
  if (const uint64_t race = conflict(stamps.readers, stamps.count, thread, stale, order))
    return race;
  std::fill_n(stamps.writers, stamps.count, order.now() << Stamp::kTimeShift | thread);
  return 0;
}

uint64_t noteAtomic(Stamps stamps, uint32_t thread, bool writes, uint64_t stale, const BarrierOrder &order) {
  if (const uint64_t race = conflict(stamps.writers, stamps.count, thread, stale, order, Stamp::kAtomic))
    return race;
  if (!writes)
    return 0;
  if (const uint64_t race = conflict(stamps.readers, stamps.count, thread, stale, order))
    return race;
  join(stamps.writers, stamps.count, thread, Stamp::kAtomic, stale, order);
  return 0;
}

} // namespace trainc::emulator
