// Loops over the lanes of a warp that the host's compiler vectorizes.
#pragma once

#include "test/emulator/ptx/warp.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace trainc::emulator {

/// Calls `value(lane)` for every lane, and stores the results of active lanes. `value` must be harmless for
/// inactive lanes, whatever their registers contain.
template <typename T, typename Value> inline void forLanes(Warp &warp, const Slot &to, Value value) {
  alignas(64) std::array<T, kLanes> results;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    results[lane] = value(lane);
  T *const out = warp.at<T>(to);
  if (warp.active == kAllLanes) {
    std::memcpy(out, results.data(), sizeof results);
    return;
  }
  for (unsigned lane = 0; lane < kLanes; ++lane)
    out[lane] = (warp.active >> lane & 1) != 0 ? results[lane] : out[lane];
}

/// A mask of the lanes whose byte is 1; other bytes are 0.
inline uint32_t maskOf(const std::array<uint8_t, kLanes> &flags) {
  uint32_t mask = 0;
  for (unsigned part = 0; part < 4; ++part) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, flags.data() + size_t{part} * 8, sizeof bytes);
    mask |= static_cast<uint32_t>(bytes * 0x0102040810204080U >> 56) << part * 8;
  }
  return mask;
}

/// A mask of the lanes for which `holds(lane)`.
template <typename Holds> inline uint32_t lanesWhere(Holds holds) {
  alignas(32) std::array<uint8_t, kLanes> flags;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    flags[lane] = holds(lane);
  return maskOf(flags);
}

/// Stores the bits of a predicate for the active lanes.
inline void setPredicate(Warp &warp, const Slot &to, uint32_t mask) {
  uint32_t &out = *warp.at<uint32_t>(to);
  out = (out & ~warp.active) | (mask & warp.active);
}

// Handlers for functions of one, two or three values of a type: F::of(a, b, c).
template <typename F, typename T> void unary(const Instruction &instruction, Warp &warp) {
  const T *const a = warp.at<T>(instruction.reads[0]);
  forLanes<T>(warp, instruction.writes[0], [&](unsigned lane) { return F::of(a[lane]); });
}

template <typename F, typename T> void binary(const Instruction &instruction, Warp &warp) {
  const T *const a = warp.at<T>(instruction.reads[0]), *const b = warp.at<T>(instruction.reads[1]);
  forLanes<T>(warp, instruction.writes[0], [&](unsigned lane) { return F::of(a[lane], b[lane]); });
}

template <typename F, typename T> void ternary(const Instruction &instruction, Warp &warp) {
  const T *const a = warp.at<T>(instruction.reads[0]), *const b = warp.at<T>(instruction.reads[1]);
  const T *const c = warp.at<T>(instruction.reads[2]);
  forLanes<T>(warp, instruction.writes[0], [&](unsigned lane) { return F::of(a[lane], b[lane], c[lane]); });
}

} // namespace trainc::emulator
