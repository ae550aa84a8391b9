// What an entry's order says of instructions on different streams.
#pragma once

#include "runtime/schema/plan_generated.h"

#include <cstdint>
#include <vector>

namespace trainc::report {

/// Of a verified entry.
struct StreamOrder {
  /// For each instruction on another stream than that of computation: the first one on that stream which
  /// begins when it is done, or the number of instructions. Of the others it is that number.
  std::vector<uint32_t> joined;
  uint64_t pairs = 0; ///< of instructions that may run at the same time
  uint64_t waits = 0; ///< of an instruction for one on another stream
};

StreamOrder orderOf(const fb::Entry &entry);

} // namespace trainc::report
