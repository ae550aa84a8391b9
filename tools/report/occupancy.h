// Occupancy of non-persistent arenas: the values that an entry writes, over bytes and moments.
#pragma once

#include "tools/report/moments.h"

#include <cstdint>
#include <vector>

namespace trainc::report {

/// Bytes of an arena that hold one value, from the writing instruction to the last read. In-place updates
/// through the same buffer continue the same value.
struct Held {
  uint32_t buffer;        ///< buffer through which the value is written and read
  uint64_t offset, bytes; ///< in the buffer's arena
  uint32_t begin, end;    ///< moments [begin, end) in which the bytes are occupied
  uint32_t last;          ///< of the moments with an access, the one that ends last
};

/// The moment at which values occupy most bytes of an arena.
struct ArenaPeak {
  uint32_t arena;
  uint32_t moment = 0;
  uint64_t held = 0;  ///< bytes of values at that moment; the other bytes of the arena are unused
  uint64_t reach = 0; ///< end of the highest byte ever occupied
};

/// Occupancy by an entry's values, tracked byte by byte in the order of the verifier's proof: no two values
/// share a byte at any moment. A loop is represented by its first iteration; values read by later iterations
/// live until the end of the loop, and operands with a stride occupy the bytes of all iterations.
struct Occupancy {
  std::vector<Held> values;     ///< by begin
  std::vector<ArenaPeak> peaks; ///< of each non-persistent arena that the entry writes
};

/// Analyses a verified entry. Rank-dependent addresses are those of rank 0.
Occupancy occupancyOf(const fb::Plan &plan, const std::vector<Moment> &moments);

} // namespace trainc::report
