// What lies at each byte when: the values that an entry writes into arenas whose contents die with it.
#pragma once

#include "tools/report/moments.h"

#include <cstdint>
#include <vector>

namespace trainc::report {

/// Bytes of an arena that hold one value, from the instruction that writes them to the last one that reads
/// them. In place changes, through the same buffer, are the same value.
struct Held {
  uint32_t buffer;        ///< through which it is written and read
  uint64_t offset, bytes; ///< in the buffer's arena
  uint32_t begin, end;    ///< moments [begin, end) in which the bytes are taken
  uint32_t last;          ///< of the moments that touch it, the one that ends last
};

/// The moment of an arena at which values take most bytes.
struct ArenaPeak {
  uint32_t arena;
  uint32_t moment = 0;
  uint64_t held = 0;  ///< bytes of values at that moment; the arena's others are unused then
  uint64_t reach = 0; ///< the end of the highest byte that is ever taken
};

/// What an entry's values take, followed byte by byte in the order of the verifier's proof: at no moment do
/// two values share a byte. In a loop it is the first iteration; what a later one reads lasts until the
/// loop's end, and of what advances all iterations' bytes are taken at once.
struct Occupancy {
  std::vector<Held> values;     ///< by begin
  std::vector<ArenaPeak> peaks; ///< of each arena that is not persistent and in which something is written
};

/// Follows a verified entry. Addresses that depend on the rank are those of the first one.
Occupancy occupancyOf(const fb::Plan &plan, const std::vector<Moment> &moments);

} // namespace trainc::report
