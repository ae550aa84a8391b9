// Ordering between instructions of an entry on different streams.
#pragma once

#include "plan/schema/plan_generated.h"

#include <cstdint>
#include <vector>

namespace trainc::report {

/// Stream order of a verified entry.
struct StreamOrder {
  /// For each instruction not on the compute stream: the first instruction on the compute stream that is
  /// ordered after it, or the number of instructions if there is none. Instructions on the compute stream
  /// have that number.
  std::vector<uint32_t> joined;
  uint64_t pairs = 0; ///< number of pairs of instructions that may run concurrently
  uint64_t waits = 0; ///< number of dependencies between streams
};

StreamOrder orderOf(const fb::Entry &entry);

} // namespace trainc::report
