// What ranks that meet in a collective compare, to find out whether they mean the same.
#pragma once

#include "runtime/comm/communicator.h"

#include <cstdint>
#include <string>

namespace trainc {

/// What of a collective is the same on all ranks, in as many bytes whatever it moves.
struct Outline {
  CollectiveKind kind = CollectiveKind::kBarrier;
  fb::Group group = fb::Group::All;
  fb::DType dtype = fb::DType::U8; ///< of all ranges; u8 where they differ, or there are none
  uint32_t ranges = 0;
  uint64_t elements = 0; ///< of all ranges together
  uint64_t digest = 0;   ///< of all the above and of each range's elements and dtype, in their order

  bool operator==(const Outline &) const = default;
};

Outline outlineOf(const Collective &collective);

/// As describe() of the collective.
std::string describe(const Outline &outline);

} // namespace trainc
